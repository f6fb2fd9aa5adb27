import { expect, test } from 'vitest';
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

test('there are recorded turns', () => {
	expect(names.length).toBeGreaterThan(5);
});
