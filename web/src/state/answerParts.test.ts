import { expect, test } from 'vitest';
import type { ToolResult } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import {
	findQuestionOfTool,
	findState,
	getOutput,
	isAtEnd,
	listParts,
	type ToolUse
} from '$/state/answerParts';

function say(id: string, text: string, ...calls: string[]): Message {
	const tool_calls = calls.map((call_id) => ({
		kind: 'tool_call' as const,
		call_id,
		tool: 'calculate',
		arguments: '{}',
		is_hosted: true
	}));
	return {
		id,
		author: { role: 'assistant' },
		create_time: null,
		content: { content_type: 'text', parts: [text] },
		status: 'finished_successfully',
		metadata: calls.length === 0 ? {} : { tool_calls }
	};
}

function returned(
	call_id: string,
	output: string,
	more: Partial<ToolResult> = {},
	message: Partial<Message> = {}
): Message {
	const tool_result: ToolResult = {
		kind: 'tool_result',
		call_id,
		output: '',
		failed: false,
		tool: 'calculate',
		...more
	};
	return {
		...say(`of ${call_id} ${output}`, output),
		author: { role: 'tool' },
		metadata: { tool_result },
		...message
	};
}

function uses(messages: Message[]): ToolUse[] {
	return listParts(messages).flatMap((part) => (part.kind === 'calls' ? part.uses : []));
}

const ASKED = { approval: { reason: 'writes' as const, word: '' } };
const EXPIRED = {
	approval: { reason: 'writes' as const, decision: 'expired' as const, word: '' }
};

test('texts and calls are parts in the order in which they came', () => {
	const parts = listParts([
		say('a1', 'Let me see.', 'c1', 'c2'),
		returned('c1', '42'),
		returned('c2', '43'),
		say('a2', 'It is 42.')
	]);

	expect(parts.map(({ kind, id }) => [kind, id])).toEqual([
		['text', 'a1'],
		['calls', 'a1 calls'],
		['text', 'a2']
	]);
	expect(parts[1]).toMatchObject({
		uses: [{ call: { call_id: 'c1' } }, { call: { call_id: 'c2' } }]
	});
});

test('rounds without words between them are one group of calls', () => {
	const parts = listParts([
		say('a1', '', 'c1'),
		returned('c1', '42'),
		say('a2', '', 'c2'),
		returned('c2', '43'),
		say('a3', 'Done.')
	]);

	expect(parts.map(({ kind }) => kind)).toEqual(['calls', 'text']);
	expect(uses([say('a1', '', 'c1'), say('a2', '', 'c2')])).toHaveLength(2);
});

test('a continued text goes on in the middle of a word', () => {
	expect(listParts([say('a1', 'It is for'), say('a2', 'ty-two.')])).toEqual([
		{ kind: 'text', id: 'a1', text: 'It is forty-two.' }
	]);
});

test('a call that was decided later has the newer result', () => {
	const [use] = uses([
		say('a1', '', 'c1'),
		returned('c1', '', EXPIRED),
		returned('c1', 'Posted.'),
		say('a2', 'Sent.')
	]);

	expect(use && getOutput(use)).toBe('Posted.');
	expect(use && findState(use, false)).toBe('done');
});

test('a call of an earlier version, without a result of its own, is not shown', () => {
	const old = say('a1', 'Remembered.', 'c1');
	const calls = [{ kind: 'tool_call' as const, call_id: 'c1', tool: 'remember', arguments: '{}' }];

	expect(listParts([{ ...old, metadata: { tool_calls: calls } }])).toHaveLength(1);
	expect(
		listParts([{ ...old, status: 'in_progress', metadata: { tool_calls: calls } }])
	).toHaveLength(2);
});

test.each([
	['writing', say('a1', '', 'c1'), null, true],
	['interrupted', say('a1', '', 'c1'), null, false],
	['running', say('a1', '', 'c1'), returned('c1', '', {}, { status: 'in_progress' }), true],
	['interrupted', say('a1', '', 'c1'), returned('c1', '', {}, { status: 'in_progress' }), false],
	['asking', say('a1', '', 'c1'), returned('c1', '', ASKED, { status: 'in_progress' }), true],
	['asking', say('a1', '', 'c1'), returned('c1', '', EXPIRED), false],
	['failed', say('a1', '', 'c1'), returned('c1', 'No.', { failed: true }), false],
	[
		'invalid',
		say('a1', '', 'c1'),
		returned('c1', 'Wrong.', { failed: true, is_invalid: true }),
		false
	],
	['done', say('a1', '', 'c1'), returned('c1', '42'), false],
	[
		'refused',
		say('a1', '', 'c1'),
		returned('c1', 'No.', {
			failed: true,
			approval: { reason: 'writes', decision: 'refused', word: '' }
		}),
		false
	],
	[
		'form',
		say('a1', '', 'c1'),
		returned(
			'c1',
			'',
			{ form: { form_id: 'f1', message: '', schema: '{}' } },
			{ status: 'in_progress' }
		),
		true
	]
])('a call is %s', (state, answer, result, isRunning) => {
	const [use] = uses(result === null ? [answer] : [answer, result]);

	expect(use && findState(use, isRunning)).toBe(state);
});

test.each(['stopped', 'interrupted'] as const)('a call that was %s says so', (reason) => {
	const ended = returned('c1', '', reason === 'stopped' ? ASKED : {}, {
		status: 'finished_partial_completion'
	});
	ended.metadata = { ...ended.metadata, finish_details: { type: 'interrupted', reason } };
	const [use] = uses([say('a1', '', 'c1'), ended]);

	expect(use && findState(use, false)).toBe(reason);
});

test('the answer waits for the person only while nothing follows the call', () => {
	const waiting = [say('a1', '', 'c1', 'c2'), returned('c1', '', EXPIRED), returned('c2', '42')];
	const [use] = uses(waiting);

	expect(findQuestionOfTool(waiting, false)?.call.call_id).toBe('c1');
	expect(use && isAtEnd(use, waiting)).toBe(true);
	expect(findQuestionOfTool([...waiting, say('a2', 'Then not.')], false)).toBeNull();
});

test('what a tool has reported is its output until it returns', () => {
	const [use] = uses([
		say('a1', '', 'c1'),
		returned('c1', '', { progress: 'one\ntwo' }, { status: 'in_progress' })
	]);

	expect(use && getOutput(use)).toBe('one\ntwo');
});
