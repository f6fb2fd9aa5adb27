import { expect, test } from 'vitest';
import { lookAt } from '$/inspector/look';
import { expected, log, names } from '$/turn/recorded';
import { de } from '$/words/de';
import { en } from '$/words/en';

test('the tokens of the prompt are counted by where they came from', () => {
	const { prompt, sources } = lookAt(log('hello'), en.inspector);
	const sum = sources.reduce((total, { numTokens }) => total + numTokens, 0);

	expect(sources.map(({ source }) => source)).toEqual(['template', 'system', 'user']);
	expect(sum).toBe(prompt?.num_tokens);
});

test.each(names)('every step of %s is told, in order and with its time', (name) => {
	const { steps } = lookAt(log(name), en.inspector);
	const times = steps.map(({ atMs }) => atMs);

	expect(steps.length).toBeGreaterThan(3);
	expect(times).toEqual(times.toSorted((a, b) => a - b));
	expect(steps.filter(({ title }) => title === 'First words').length).toBeLessThan(3);
});

test('what was cached is known even of an answer that failed', () => {
	expect(lookAt(log('failed'), en.inspector).usage?.num_cached_tokens).toBe(
		expected('failed').transcript.messages.at(-1)?.usage?.num_cached_tokens
	);
});

test('the tokens of the answer spell the answer', () => {
	const { tokens } = lookAt(log('hello'), en.inspector);
	const answer = expected('hello').messages.at(-1)?.content.parts[0];

	expect(tokens.map(([, text]) => text).join('')).toBe(answer);
});

test('how sure the model was of its answer is told where that is known', () => {
	const { steps, usage } = lookAt(log('searched'), en.inspector);
	const told = steps.find(({ title }) => title === 'Answer finished');

	expect(usage).toMatchObject({ entropy: 1.25, surprisal: 0.4, is_truncated: true });
	expect(told?.detail).toBe(
		'at the longest length, 3 tokens, 100 per second, 17 evaluated in search of them, ' +
			'entropy at least 1.3 bits, surprisal 0.4 bits'
	);
	expect(lookAt(log('hello'), en.inspector).steps.map(({ detail }) => detail)).not.toContain(
		'bits'
	);
});

test('the steps are told in the language of the page', () => {
	expect(lookAt(log('hello'), de.inspector).steps[0]?.title).toBe('Runde begonnen');
});
