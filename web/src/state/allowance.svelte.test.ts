// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Unreachable } from '$/api/http';
import type { RemainingLimits } from '$/api/wire';
import { Allowance } from '$/state/allowance.svelte';

const NO_LIMIT = { limit: null, remaining: null, reset_ms: null, reset_at: null };
const NO_LIMITS: RemainingLimits = {
	requests: NO_LIMIT,
	tokens_minute: NO_LIMIT,
	tokens_day: NO_LIMIT,
	group: null
};

let reply: RemainingLimits = NO_LIMITS;
let numFetches = 0;
let allowance: Allowance;

beforeEach(() => {
	vi.useFakeTimers();
	reply = NO_LIMITS;
	numFetches = 0;
	allowance = new Allowance({
		getAllowance: () => {
			numFetches += 1;
			return Promise.resolve(reply);
		}
	});
});
afterEach(() => {
	allowance.close();
	vi.useRealTimers();
});

test('without limits the allowance is fetched once', async () => {
	await allowance.load();
	allowance.readHeaders(new Headers({ 'content-type': 'text/event-stream' }));
	await allowance.refreshAfterTurn();

	expect(allowance.tightest).toBeNull();
	expect(numFetches).toBe(1);
});

test('limits that appear in the headers of a Send are fetched', async () => {
	await allowance.load();
	allowance.readHeaders(new Headers({ 'x-ratelimit-limit-requests': '60' }));
	reply = { ...NO_LIMITS, requests: { limit: 60, remaining: 59, reset_ms: 1_000 } };
	await allowance.refreshAfterTurn();

	expect(allowance.tightest).toMatchObject({ kind: 'requests', limit: 60, remaining: 59 });
});

test('the tightest limit is the one with the smallest remaining share', async () => {
	reply = {
		requests: { limit: 60, remaining: 30, reset_ms: 20_000 },
		tokens_minute: { limit: 1_000, remaining: 900, reset_ms: 20_000 },
		tokens_day: { limit: 10_000, remaining: 6_000, reset_ms: 9_000_000, reset_at: null },
		group: {
			name: 'g',
			tokens_day: { limit: 100, remaining: 1, reset_ms: 9_000_000, reset_at: null }
		}
	};
	await allowance.load();

	expect(allowance.tightest).toMatchObject({ kind: 'groupDay', limit: 100, remaining: 1 });
	expect(allowance.tightest?.resetAt).toBe(Date.now() + 9_000_000);
});

test('the allowance is fetched again when a minute limit resets, but not for a day limit', async () => {
	reply = { ...NO_LIMITS, requests: { limit: 60, remaining: 0, reset_ms: 20_000 } };
	await allowance.load();
	reply = {
		...NO_LIMITS,
		tokens_day: { limit: 60, remaining: 0, reset_ms: 20_000_000, reset_at: null }
	};
	await vi.advanceTimersByTimeAsync(20_000);
	expect(allowance.tightest?.kind).toBe('tokensDay');
	await vi.advanceTimersByTimeAsync(200_000);

	expect(numFetches).toBe(2);
});

test('after close nothing is fetched, even if a response arrives later', async () => {
	reply = { ...NO_LIMITS, requests: { limit: 60, remaining: 0, reset_ms: 20_000 } };
	const loading = allowance.load();
	allowance.close();
	await loading;
	await vi.advanceTimersByTimeAsync(60_000);

	expect(numFetches).toBe(1);
});

test('an unreachable server leaves the allowance unknown', async () => {
	const unreachable = new Allowance({ getAllowance: () => Promise.reject(new Unreachable()) });
	await unreachable.load();

	expect(unreachable.tightest).toBeNull();
});
