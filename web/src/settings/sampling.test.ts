// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { problemWith, samplingOf } from '$/settings/sampling';
import { en } from '$/words/en';

const t = en.settings.chat;
const EMPTY = {
	...{ temperature: '', top_p: '', top_k: '', min_p: '', max_tokens: '', seed: '' },
	num_beams: ''
};

test('an empty field leaves it to the model', () => {
	expect(samplingOf(EMPTY, t)).toEqual({ policy: 'sample' });
	expect(problemWith('seed', ' ', t)).toBeNull();
});

test('numbers are taken with a point or a comma', () => {
	expect(samplingOf({ ...EMPTY, temperature: '0,7', top_k: ' 40 ' }, t)).toEqual({
		policy: 'sample',
		temperature: 0.7,
		top_k: 40
	});
});

test('the ends of a range are in it, where the server takes them', () => {
	expect(problemWith('temperature', '0', t)).toBeNull();
	expect(problemWith('temperature', '2', t)).toBeNull();
	expect(problemWith('top_p', '0', t)).toBe('This has to be more than 0, up to 1.');
	expect(problemWith('seed', String(2 ** 32 - 2), t)).toBeNull();
	expect(problemWith('seed', String(2 ** 32 - 1), t)).not.toBeNull();
});

test('what is not a number, or not whole where it must be, says so', () => {
	expect(problemWith('temperature', 'warm', t)).toBe(t.notANumber);
	expect(problemWith('top_k', '1.5', t)).toBe(t.notWhole);
	expect(problemWith('max_tokens', '0', t)).toBe('This has to be 1 to 1,048,576.');
});

test('one wrong number does not take the others along', () => {
	expect(samplingOf({ ...EMPTY, temperature: '9', min_p: '0.05' }, t)).toEqual({
		policy: 'sample',
		min_p: 0.05
	});
});

test('only what means something under a policy is sent with it', () => {
	const typed = { ...EMPTY, temperature: '0.7', num_beams: '3', max_tokens: '100' };

	expect(samplingOf(typed, t)).toEqual({ policy: 'sample', temperature: 0.7, max_tokens: 100 });
	expect(samplingOf(typed, t, 'greedy')).toEqual({ policy: 'greedy', max_tokens: 100 });
	expect(samplingOf(typed, t, 'beam')).toEqual({ policy: 'beam', num_beams: 3, max_tokens: 100 });
});

test('a beam search writes short answers', () => {
	expect(problemWith('max_tokens', '513', t, 'beam')).toBe('This has to be 1 to 512.');
	expect(problemWith('max_tokens', '513', t)).toBeNull();
	expect(problemWith('num_beams', '1', t, 'beam')).toBe('This has to be 2 to 8.');
});
