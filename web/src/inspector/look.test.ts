import { expect, test } from 'vitest';
import { lookAt } from '$/inspector/look';
import { expected, log, names } from '$/turn/recorded';

test('the tokens of the prompt are counted by where they came from', () => {
	const { prompt, sources } = lookAt(log('hello'));
	const sum = sources.reduce((total, { numTokens }) => total + numTokens, 0);

	expect(sources.map(({ source }) => source)).toEqual(['template', 'system', 'user']);
	expect(sum).toBe(prompt?.num_tokens);
});

test.each(names)('every step of %s is told, in order and with its time', (name) => {
	const { steps } = lookAt(log(name));
	const times = steps.map(({ atMs }) => atMs);

	expect(steps.length).toBeGreaterThan(3);
	expect(times).toEqual(times.toSorted((a, b) => a - b));
	expect(steps.filter(({ title }) => title === 'First words').length).toBeLessThan(3);
});

test('what was cached is known even of an answer that failed', () => {
	expect(lookAt(log('failed')).usage?.num_cached_tokens).toBe(
		expected('failed').transcript.messages.at(-1)?.usage?.num_cached_tokens
	);
});

test('the tokens of the answer spell the answer', () => {
	const { tokens } = lookAt(log('hello'));
	const answer = expected('hello').messages.at(-1)?.content.parts[0];

	expect(tokens.map(([, text]) => text).join('')).toBe(answer);
});
