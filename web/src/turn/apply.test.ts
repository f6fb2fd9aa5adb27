import { expect, test } from 'vitest';
import { fold } from '$/turn/apply';
import { expected, log, names } from '$/turn/recorded';

test.each(names)('the recorded turn %s folds to what the server folds it to', (name) => {
	const events = log(name).map(({ event }) => event);

	expect(fold(events)).toEqual(expected(name).transcript);
});

test('a search that was stopped has cost what it looked into', () => {
	const looking = [1, 4, 4].map((num_searched_tokens) => ({
		type: 'TextArrived' as const,
		text: '',
		tokens: [],
		num_searched_tokens
	}));
	const begun = { type: 'AnswerStarted' as const, message_id: 'a', parent_id: null, model: 'm' };
	const { messages } = fold([begun, ...looking, { type: 'TurnFinished', ending: 'stopped' }]);

	expect(messages[0]?.usage).toMatchObject({ num_output_tokens: 0, num_searched_tokens: 9 });
});

test('there are recorded turns', () => {
	expect(names.length).toBeGreaterThan(5);
});
