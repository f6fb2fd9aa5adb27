// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Unreachable } from '$/api/client';
import type { Allowance as Told } from '$/api/spending';
import { Allowance } from '$/state/allowance.svelte';

const NONE = { limit: null, remaining: null, reset_ms: null };
const FREE: Told = { requests: NONE, tokens_minute: NONE, tokens_day: NONE, group: null };

let told: Told = FREE;
let numAsked = 0;
let allowance: Allowance;

beforeEach(() => {
	vi.useFakeTimers();
	told = FREE;
	numAsked = 0;
	allowance = new Allowance({
		allowance: () => {
			numAsked += 1;
			return Promise.resolve(told);
		}
	});
});
afterEach(() => {
	allowance.leave();
	vi.useRealTimers();
});

test('a house without limits is asked once', async () => {
	await allowance.load();
	allowance.note(new Headers({ 'content-type': 'text/event-stream' }));
	await allowance.afterTurn();

	expect(allowance.scarce).toBeNull();
	expect(numAsked).toBe(1);
});

test('limits that a Send shows for the first time are asked about', async () => {
	await allowance.load();
	allowance.note(new Headers({ 'x-ratelimit-limit-requests': '60' }));
	told = { ...FREE, requests: { limit: 60, remaining: 59, reset_ms: 1_000 } };
	await allowance.afterTurn();

	expect(allowance.scarce).toMatchObject({ kind: 'requests', limit: 60, remaining: 59 });
});

test('what there is least of is told', async () => {
	told = {
		requests: { limit: 60, remaining: 30, reset_ms: 20_000 },
		tokens_minute: { limit: 1_000, remaining: 900, reset_ms: 20_000 },
		tokens_day: { limit: 10_000, remaining: 6_000, reset_ms: 9_000_000 },
		group: { name: 'g', tokens_day: { limit: 100, remaining: 1, reset_ms: 9_000_000 } }
	};
	await allowance.load();

	expect(allowance.scarce).toMatchObject({ kind: 'groupDay', limit: 100, remaining: 1 });
	expect(allowance.scarce?.resetAt).toBe(Date.now() + 9_000_000);
});

test('when the minute is over it is asked again, and when the day is not', async () => {
	told = { ...FREE, requests: { limit: 60, remaining: 0, reset_ms: 20_000 } };
	await allowance.load();
	told = { ...FREE, tokens_day: { limit: 60, remaining: 0, reset_ms: 20_000_000 } };
	await vi.advanceTimersByTimeAsync(20_000);
	expect(allowance.scarce?.kind).toBe('tokensDay');
	await vi.advanceTimersByTimeAsync(200_000);

	expect(numAsked).toBe(2);
});

test('who has left asks no more, also where the answer comes later', async () => {
	told = { ...FREE, requests: { limit: 60, remaining: 0, reset_ms: 20_000 } };
	const asking = allowance.load();
	allowance.leave();
	await asking;
	await vi.advanceTimersByTimeAsync(60_000);

	expect(numAsked).toBe(1);
});

test('what cannot be asked changes nothing', async () => {
	const deaf = new Allowance({ allowance: () => Promise.reject(new Unreachable()) });
	await deaf.load();

	expect(deaf.scarce).toBeNull();
});
