import { expect, test } from 'vitest';
import type { Event, ToolResult } from '$/api/events.gen';
import { fold } from '$/turn/apply';
import { readExpected, readLog, names } from '$/turn/recordedTurns';

test.each(names)('the recorded turn %s folds to what the server folds it to', (name) => {
	const events = readLog(name).map(({ event }) => event);

	expect(fold(events)).toEqual(readExpected(name).transcript);
});

test('a stopped beam search counts the tokens it searched', () => {
	const searched = [1, 4, 4].map((num_searched_tokens) => ({
		type: 'TextArrived' as const,
		text: '',
		tokens: [],
		num_searched_tokens
	}));
	const started = { type: 'AnswerStarted' as const, message_id: 'a', parent_id: null, model: 'm' };
	const { messages } = fold([started, ...searched, { type: 'TurnFinished', ending: 'stopped' }]);

	expect(messages[0]?.usage).toMatchObject({ num_output_tokens: 0, num_searched_tokens: 9 });
});

const RESULT: ToolResult = { kind: 'tool_result', call_id: 'c1', output: '', failed: false };
const started = (call_id: string, message_id: string, parent_id: string): Event => ({
	type: 'ToolStarted',
	message_id,
	parent_id,
	result: { ...RESULT, call_id }
});
const BEGUN: Event[] = [
	{ type: 'AnswerStarted', message_id: 'a1', parent_id: 'q', model: 'm' },
	started('c1', 'x1', 'a1'),
	started('c2', 'x2', 'x1')
];
const resultOf = (events: Event[], at = 1) => fold([...BEGUN, ...events]).messages[at]?.parts[0];

test('each call has a message, which its own events change', () => {
	const progressed: Event[] = [
		{ type: 'ToolProgressed', call_id: 'c1', text: 'one' },
		{ type: 'ToolProgressed', call_id: 'c2', text: 'other' },
		{ type: 'ToolProgressed', call_id: 'c1', text: ' two' }
	];

	expect(resultOf(progressed)).toMatchObject({ call_id: 'c1', progress: 'one two' });
	expect(resultOf(progressed, 2)).toMatchObject({ call_id: 'c2', progress: 'other' });
	expect(
		resultOf([...progressed, { type: 'ToolReturned', result: { ...RESULT, output: '42' } }])
	).toEqual({ ...RESULT, output: '42' });
});

test('a decision keeps the reason why it was asked for', () => {
	expect(
		resultOf([
			{ type: 'ApprovalRequested', call_id: 'c1', reason: 'untrusted' },
			{ type: 'ApprovalDecided', call_id: 'c1', decision: 'refused', word: 'No.' }
		])
	).toMatchObject({ approval: { reason: 'untrusted', decision: 'refused', word: 'No.' } });
});

test('a form that was answered keeps its question', () => {
	expect(
		resultOf([
			{ type: 'FormShown', call_id: 'c1', form: { form_id: 'f', message: 'Size?', schema: '{}' } },
			{ type: 'FormAnswered', call_id: 'c1', form_id: 'f', action: 'decline' }
		])
	).toMatchObject({ form: { form_id: 'f', message: 'Size?', action: 'decline' } });
});

test('all calls that run end with their turn', () => {
	const { messages } = fold([
		...BEGUN,
		{ type: 'ToolReturned', result: RESULT },
		{ type: 'TurnFinished', ending: 'stopped' }
	]);

	expect(messages.map(({ role, status }) => [role, status])).toEqual([
		['assistant', 'in_progress'],
		['tool', 'finished'],
		['tool', 'partial']
	]);
});

test('there are recorded turns', () => {
	expect(names.length).toBeGreaterThan(5);
});
