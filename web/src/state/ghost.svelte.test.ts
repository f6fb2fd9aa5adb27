// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/client';
import type { Completions } from '$/api/wire';
import { Ghost } from '$/state/ghost.svelte';

let asked: { written: string; signal: AbortSignal }[] = [];
let answer: () => Promise<Completions>;
let ghost: Ghost;

beforeEach(() => {
	vi.useFakeTimers();
	asked = [];
	answer = () => Promise.resolve({ completions: [' of the day'], is_enabled: true });
	ghost = new Ghost((written, signal) => {
		asked.push({ written, signal });
		return answer();
	});
});
afterEach(() => {
	vi.useRealTimers();
});

async function write(text: string, restMs = 150): Promise<string> {
	ghost.follow(text);
	await vi.advanceTimersByTimeAsync(restMs);
	return ghost.after(text);
}

test('words are proposed when the writing rests for a moment', async () => {
	await write('What is', 100);
	await write('What is the', 100);
	expect(asked).toEqual([]);
	expect(await write('What is the end')).toBe(' of the day');

	expect(asked.map(({ written }) => written)).toEqual(['What is the end']);
});

test('the next key takes them away, and the question back', async () => {
	answer = () => new Promise(() => undefined);
	await write('What is the end');
	ghost.follow('What is the ends');
	expect(asked[0]?.signal.aborted).toBe(true);
	answer = () => Promise.resolve({ completions: [' well'], is_enabled: true });
	expect(await write('All is')).toBe(' well');
	ghost.dismiss();

	expect(ghost.after('All is')).toBe('');
});

test('words belong to what they were proposed for', async () => {
	await write('What is the end');

	expect(ghost.after('What is the en')).toBe('');
	expect(ghost.after('What is the end')).toBe(' of the day');
});

test('an answer without words proposes nothing', async () => {
	answer = () => Promise.resolve({ is_enabled: true });

	expect(await write('What is the end')).toBe('');
});

test('an answer that comes too late is not shown', async () => {
	let tell: (value: Completions) => void = () => undefined;
	answer = () => new Promise((resolve) => (tell = resolve));
	await write('What is the end');
	ghost.dismiss();
	tell({ completions: [' of the day'], is_enabled: true });
	await vi.advanceTimersByTimeAsync(0);

	expect(ghost.after('What is the end')).toBe('');
});

test('a server that is too slow for it is left alone for ten minutes', async () => {
	answer = () => Promise.resolve({ completions: [], is_enabled: false });
	await write('What is the');
	await write('What is the end');
	expect(asked).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(600_000);
	await write('What is the end');

	expect(asked).toHaveLength(2);
});

test('a refusal is quiet, and so is nobody; but nobody is asked again', async () => {
	answer = () => Promise.reject(new Unreachable());
	expect(await write('What is the')).toBe('');
	answer = () => Promise.reject(new ApiError('Too fast.', 429, 'rate_limit_exceeded'));
	expect(await write('What is the end')).toBe('');
	await write('What is the end of');

	expect(asked).toHaveLength(2);
});

test.each(['abc', '/find it', 'a'.repeat(2_001), '        '])(
	'%s is nothing to go on with',
	async (text) => {
		await write(text);

		expect(asked).toEqual([]);
	}
);
