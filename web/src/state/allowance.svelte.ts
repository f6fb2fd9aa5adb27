/**
 * What somebody may still ask for, where the house has limits. Asked when the page opens, and after
 * an answer where there are any: a house without limits is asked once.
 */
import { failureOf, type Api } from '$/api/client';
import type { Allowance as Told, Left } from '$/api/spending';

/** What comes back within so long is waited for. */
const SOON_MS = 120_000;

export type Kind = 'requests' | 'tokensMinute' | 'tokensDay' | 'groupDay';

/** What there is least of, compared with what there is of it in all. */
export interface Scarce {
	kind: Kind;
	limit: number;
	remaining: number;
	/** When there is more of it, in Unix milliseconds; null where nobody said. */
	resetAt: number | null;
}

export class Allowance {
	scarce = $state.raw<Scarce | null>(null);

	#ask: Api['allowance'];
	#isLimited = false;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#isLeft = false;

	constructor({ allowance }: Pick<Api, 'allowance'>) {
		this.#ask = allowance;
	}

	/** What the answer to a Send says of limits. */
	note(headers: Headers): void {
		this.#isLimited = [...headers.keys()].some((name) => name.startsWith('x-ratelimit-'));
	}

	async afterTurn(): Promise<void> {
		if (this.#isLimited || this.scarce !== null) await this.load();
	}

	async load(): Promise<void> {
		clearTimeout(this.#timer);
		try {
			this.scarce = scarcest(await this.#ask(), Date.now());
		} catch (error) {
			failureOf(error);
			return;
		}
		this.#lookAgain(this.scarce);
	}

	leave(): void {
		this.#isLeft = true;
		clearTimeout(this.#timer);
	}

	/** What is scarce for a minute is not any more when the minute is over. */
	#lookAgain(scarce: Scarce | null): void {
		if (this.#isLeft || scarce?.resetAt == null || scarce.remaining === scarce.limit) return;
		const restMs = scarce.resetAt - Date.now();
		if (restMs > SOON_MS) return;
		this.#timer = setTimeout(() => void this.load(), Math.max(restMs, 1_000));
	}
}

function scarcest(told: Told, now: number): Scarce | null {
	const found = [
		scarceOf('requests', told.requests, now),
		scarceOf('tokensMinute', told.tokens_minute, now),
		scarceOf('tokensDay', told.tokens_day, now),
		scarceOf('groupDay', told.group?.tokens_day, now)
	].flat();
	return found.sort((one, other) => shareOf(one) - shareOf(other))[0] ?? null;
}

function scarceOf(kind: Kind, left: Left | undefined, now: number): Scarce[] {
	const { limit = null, remaining = null, reset_ms = null } = left ?? {};
	if (limit === null || remaining === null) return [];
	return [{ kind, limit, remaining, resetAt: reset_ms === null ? null : now + reset_ms }];
}

function shareOf({ remaining, limit }: Scarce): number {
	return limit === 0 ? 0 : remaining / limit;
}
