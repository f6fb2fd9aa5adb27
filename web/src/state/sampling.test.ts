// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { findProblem, parseSampling } from '$/state/sampling';
import { settingsWords } from '$/words/settings';

const t = settingsWords('en').chat;
const EMPTY = {
	...{ temperature: '', top_p: '', top_k: '', min_p: '', max_tokens: '', seed: '' },
	num_beams: ''
};

test('an empty field leaves the choice to the model', () => {
	expect(parseSampling(EMPTY, t)).toEqual({ policy: 'sample' });
	expect(findProblem('seed', ' ', t)).toBeNull();
});

test('numbers are read with a decimal point or comma', () => {
	expect(parseSampling({ ...EMPTY, temperature: '0,7', top_k: ' 40 ' }, t)).toEqual({
		policy: 'sample',
		temperature: 0.7,
		top_k: 40
	});
});

test('the ends of a range are valid where the server accepts them', () => {
	expect(findProblem('temperature', '0', t)).toBeNull();
	expect(findProblem('temperature', '2', t)).toBeNull();
	expect(findProblem('top_p', '0', t)).toBe('This has to be more than 0, up to 1.');
	expect(findProblem('seed', String(2 ** 32 - 2), t)).toBeNull();
	expect(findProblem('seed', String(2 ** 32 - 1), t)).not.toBeNull();
});

test('a text that is no number, or no whole number where one is needed, is refused', () => {
	expect(findProblem('temperature', 'warm', t)).toBe(t.notANumber);
	expect(findProblem('top_k', '1.5', t)).toBe(t.notWhole);
	expect(findProblem('max_tokens', '0', t)).toBe('This has to be 1 to 1,048,576.');
});

test('an invalid number does not affect the others', () => {
	expect(parseSampling({ ...EMPTY, temperature: '9', min_p: '0.05' }, t)).toEqual({
		policy: 'sample',
		min_p: 0.05
	});
});

test('only the parameters of the policy are sent', () => {
	const typed = { ...EMPTY, temperature: '0.7', num_beams: '3', max_tokens: '100' };

	expect(parseSampling(typed, t)).toEqual({ policy: 'sample', temperature: 0.7, max_tokens: 100 });
	expect(parseSampling(typed, t, 'greedy')).toEqual({ policy: 'greedy', max_tokens: 100 });
	expect(parseSampling(typed, t, 'beam')).toEqual({
		policy: 'beam',
		num_beams: 3,
		max_tokens: 100
	});
});

test('beam search has a lower token limit', () => {
	expect(findProblem('max_tokens', '513', t, 'beam')).toBe('This has to be 1 to 512.');
	expect(findProblem('max_tokens', '513', t)).toBeNull();
	expect(findProblem('num_beams', '1', t, 'beam')).toBe('This has to be 2 to 8.');
});
