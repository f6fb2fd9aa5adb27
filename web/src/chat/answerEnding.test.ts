import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { describeEnding } from '$/chat/answerEnding';
import { readExpected } from '$/turn/recordedTurns';
import { en } from '$/words/en';

const ANSWER = readExpected('hello').messages.at(-1) as Message;
type Details = NonNullable<Message['metadata']['finish_details']>;

const answer = (
	status: Message['status'],
	details: Details = { type: 'stop', reason: 'stop' }
): Message => ({
	...ANSWER,
	status,
	metadata: { ...ANSWER.metadata, finish_details: details }
});
const ended = { isRunning: false, isStopping: false, isStoppedLocally: false, failure: null };

test('an answer that ended normally has no ending to describe', () => {
	expect(describeEnding([answer('finished_successfully')], null, en)).toBeNull();
});

test('a running answer has no ending yet', () => {
	expect(describeEnding([answer('in_progress')], { ...ended, isRunning: true }, en)).toBeNull();
});

test('a failure shows the server message and offers a retry', () => {
	const failure = { message: 'The model stopped working.', code: 'worker_lost' };

	expect(describeEnding([answer('failed')], { ...ended, failure }, en)).toEqual({
		sentence: 'The model stopped working.',
		canRetry: true,
		canContinue: true
	});
});

test('a stored failure is described after a reload', () => {
	const details: Details = { type: 'failed', reason: 'failed', message: 'It died.' };

	expect(describeEnding([answer('failed', details)], null, en)).toEqual({
		sentence: 'It died.',
		canRetry: true,
		canContinue: true
	});
});

test('a stopped answer does not suggest a retry', () => {
	const stopped = answer('finished_partial_completion', { type: 'interrupted', reason: 'stopped' });

	expect(describeEnding([stopped], { ...ended, isStopping: true }, en)?.canRetry).toBe(false);
	expect(describeEnding([stopped], null, en)?.canRetry).toBe(false);
});

test('an answer interrupted by a restart can be retried', () => {
	const cut = answer('finished_partial_completion', {
		type: 'interrupted',
		reason: 'interrupted'
	});

	expect(describeEnding([cut], null, en)?.canRetry).toBe(true);
});

test('an answer that ran out of room says so', () => {
	const full = answer('finished_successfully', { type: 'max_tokens', reason: 'length' });

	expect(describeEnding([full], null, en)?.sentence).toContain('longest');
});

const TOOL: Message = {
	...ANSWER,
	author: { role: 'tool' },
	content: { content_type: 'text', parts: ['42'] },
	metadata: {
		tool_result: { kind: 'tool_result', call_id: 'c1', output: '', failed: false }
	}
};
const CALLED = answer('finished_successfully', { type: 'tool_calls', reason: 'tool_calls' });

test('an answer that ends with tools has no words, and can be retried', () => {
	expect(describeEnding([CALLED, TOOL], null, en)).toEqual({
		sentence: en.chat.ending.noWords,
		canRetry: true,
		canContinue: false
	});
	expect(describeEnding([CALLED, TOOL, answer('finished_successfully')], null, en)).toBeNull();
});

test('a failure after tools is told', () => {
	const failure = { message: 'The model stopped working.', code: 'engine_lost' };

	expect(describeEnding([CALLED, TOOL], { ...ended, failure }, en)?.sentence).toBe(
		'The model stopped working.'
	);
});

test('an answer that waits for the person has no ending', () => {
	const approval = { reason: 'writes' as const, decision: 'expired' as const, word: '' };
	const result = { kind: 'tool_result' as const, call_id: 'c1', output: '', failed: false };
	const waiting = { ...TOOL, metadata: { tool_result: { ...result, approval } } };

	expect(describeEnding([CALLED, waiting], null, en)).toBeNull();
});

test('words before a tool cannot be continued', () => {
	const details: Details = { type: 'interrupted', reason: 'stopped' };
	const stopped: Message = {
		...TOOL,
		status: 'finished_partial_completion',
		metadata: { ...TOOL.metadata, finish_details: details }
	};
	const wordless = answer('finished_partial_completion', details);
	const emptied = { ...wordless, content: { ...wordless.content, parts: [''] } };

	expect(describeEnding([CALLED, stopped], null, en)?.canContinue).toBe(false);
	expect(describeEnding([CALLED, TOOL, emptied], null, en)?.canContinue).toBe(false);
	expect(describeEnding([CALLED, TOOL, wordless], null, en)?.canContinue).toBe(true);
});

test('only an answer with text can be continued', () => {
	const details: Details = { type: 'interrupted', reason: 'stopped' };
	const cut = answer('finished_partial_completion', details);
	const wordless = { ...cut, content: { ...cut.content, parts: [''] } };

	expect(describeEnding([cut], null, en)?.canContinue).toBe(true);
	expect(describeEnding([wordless], null, en)?.canContinue).toBe(false);
});

test('an answer that the safety checks ended can be neither continued nor retried', () => {
	const blocked = answer('finished_partial_completion', {
		type: 'content_filter',
		reason: 'blocked'
	});
	expect(describeEnding([blocked], null, en)).toBeNull();
});
