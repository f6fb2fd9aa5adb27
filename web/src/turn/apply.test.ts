import { expect, test } from 'vitest';
import { fold } from '$/turn/apply';
import { expected, log, names } from '$/turn/recorded';

test.each(names)('the recorded turn %s folds to what the server folds it to', (name) => {
	const events = log(name).map(({ event }) => event);

	expect(fold(events)).toEqual(expected(name).transcript);
});

test('there are recorded turns', () => {
	expect(names.length).toBeGreaterThan(5);
});
