// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/http';
import type { Completions } from '$/api/wire';
import { Autocomplete } from '$/state/autocomplete.svelte';

let requests: { draft: string; signal: AbortSignal }[] = [];
let reply: () => Promise<Completions>;
let autocomplete: Autocomplete;

beforeEach(() => {
	vi.useFakeTimers();
	requests = [];
	reply = () => Promise.resolve({ completions: [' of the day'], is_enabled: true });
	autocomplete = new Autocomplete((draft, signal) => {
		requests.push({ draft, signal });
		return reply();
	});
});
afterEach(() => {
	vi.useRealTimers();
});

async function type(text: string, restMs = 150): Promise<string> {
	autocomplete.update(text);
	await vi.advanceTimersByTimeAsync(restMs);
	return autocomplete.getContinuation(text);
}

test('a completion is proposed after a pause in typing', async () => {
	await type('What is', 100);
	await type('What is the', 100);
	expect(requests).toEqual([]);
	expect(await type('What is the end')).toBe(' of the day');

	expect(requests.map(({ draft }) => draft)).toEqual(['What is the end']);
});

test('the next key aborts the request, and dismiss removes the completion', async () => {
	reply = () => new Promise(() => undefined);
	await type('What is the end');
	autocomplete.update('What is the ends');
	expect(requests[0]?.signal.aborted).toBe(true);
	reply = () => Promise.resolve({ completions: [' well'], is_enabled: true });
	expect(await type('All is')).toBe(' well');
	autocomplete.dismiss();

	expect(autocomplete.getContinuation('All is')).toBe('');
});

test('a completion belongs to the draft it was requested for', async () => {
	await type('What is the end');

	expect(autocomplete.getContinuation('What is the en')).toBe('');
	expect(autocomplete.getContinuation('What is the end')).toBe(' of the day');
});

test('a reply without completions proposes nothing', async () => {
	reply = () => Promise.resolve({ is_enabled: true });

	expect(await type('What is the end')).toBe('');
});

test('a late reply is not shown', async () => {
	let resolve: (value: Completions) => void = () => undefined;
	reply = () => new Promise((done) => (resolve = done));
	await type('What is the end');
	autocomplete.dismiss();
	resolve({ completions: [' of the day'], is_enabled: true });
	await vi.advanceTimersByTimeAsync(0);

	expect(autocomplete.getContinuation('What is the end')).toBe('');
});

test('a server that is too slow is not asked again for ten minutes', async () => {
	reply = () => Promise.resolve({ completions: [], is_enabled: false });
	await type('What is the');
	await type('What is the end');
	expect(requests).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(600_000);
	await type('What is the end');

	expect(requests).toHaveLength(2);
});

test('failures are silent; after a refusal the server is not asked again, but an unreachable one is', async () => {
	reply = () => Promise.reject(new Unreachable());
	expect(await type('What is the')).toBe('');
	reply = () => Promise.reject(new ApiError('Too fast.', 429, 'rate_limit_exceeded'));
	expect(await type('What is the end')).toBe('');
	await type('What is the end of');

	expect(requests).toHaveLength(2);
});

test.each(['abc', '/find it', 'a'.repeat(2_001), '        '])(
	'%s is not completed',
	async (text) => {
		await type(text);

		expect(requests).toEqual([]);
	}
);
