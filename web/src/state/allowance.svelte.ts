/**
 * What is left of the person's limits. Fetched when the page opens, and after each turn if there are
 * limits.
 */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { RemainingLimits, RemainingLimit } from '$/api/wire';

/** A limit that resets within this time is fetched again then. */
const MAX_WAIT_MS = 120_000;

export type Kind = 'requests' | 'tokensMinute' | 'tokensDay' | 'groupDay';

/** The limit with the smallest remaining share. */
export interface TightestLimit {
	kind: Kind;
	limit: number;
	remaining: number;
	/** When it resets, in Unix milliseconds, if that is known. */
	resetAt: number | null;
}

export class Allowance {
	tightest = $state.raw<TightestLimit | null>(null);

	#fetch: Api['getAllowance'];
	#hasLimits = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isClosed = false;

	constructor({ getAllowance }: Pick<Api, 'getAllowance'>) {
		this.#fetch = getAllowance;
	}

	/** Reads the rate limit headers of a Send's response. */
	readHeaders(headers: Headers): void {
		this.#hasLimits = [...headers.keys()].some((name) => name.startsWith('x-ratelimit-'));
	}

	async refreshAfterTurn(): Promise<void> {
		if (this.#hasLimits || this.tightest !== null) await this.load();
	}

	async load(): Promise<void> {
		clearTimeout(this.#timer);
		try {
			this.tightest = findTightest(await this.#fetch(), Date.now());
		} catch (error) {
			toFailure(error);
			return;
		}
		this.#scheduleLoad(this.tightest);
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#timer);
	}

	/** Loads again when the limit resets. */
	#scheduleLoad(tightest: TightestLimit | null): void {
		if (this.#isClosed || tightest?.resetAt == null || tightest.remaining === tightest.limit)
			return;
		const waitMs = tightest.resetAt - Date.now();
		if (waitMs > MAX_WAIT_MS) return;
		this.#timer = setTimeout(() => void this.load(), Math.max(waitMs, 1_000));
	}
}

function findTightest(allowance: RemainingLimits, now: number): TightestLimit | null {
	const found = [
		toLimits('requests', allowance.requests, now),
		toLimits('tokensMinute', allowance.tokens_minute, now),
		toLimits('tokensDay', allowance.tokens_day, now),
		toLimits('groupDay', allowance.group?.tokens_day, now)
	].flat();
	return (
		found.sort((one, other) => computeRemainingShare(one) - computeRemainingShare(other))[0] ?? null
	);
}

function toLimits(
	kind: Kind,
	remainingLimit: RemainingLimit | undefined,
	now: number
): TightestLimit[] {
	const { limit = null, remaining = null, reset_ms = null } = remainingLimit ?? {};
	if (limit === null || remaining === null) return [];
	return [{ kind, limit, remaining, resetAt: reset_ms === null ? null : now + reset_ms }];
}

function computeRemainingShare({ remaining, limit }: TightestLimit): number {
	return limit === 0 ? 0 : remaining / limit;
}
