/**
 * What the server may ask for before it takes a message: some work, done beside the page. What that
 * earns is kept until it expires. While nobody is asked for anything, this asks nothing, either.
 */
import { ApiError, failureOf, type Api } from '$/api/client';
import type { Challenge } from '$/api/wire';
import { Joint } from '$/gate/joint';
import { inWorker, NoWorker, type Work } from '$/gate/work';

type Door = Pick<Api, 'askForWork' | 'showWork' | 'keepAlive'>;
type Seeded = Challenge['proofofwork'];

/** How long before it expires what was earned is renewed. */
const EARLY_MS = 60_000;
/** Eight letters in base64. */
const NUM_NONCE_BYTES = 6;
const HEX = /^[0-9a-f]+$/;

export class Gate {
	isWorking = $state(false);

	#door: Door;
	#work: Work;
	#left = new AbortController();
	#token: string | null = null;
	/** Whether work was asked for before, so that it may well be again. */
	#isAsked = false;
	#earning: Joint | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(door: Door, work: Work = inWorker) {
		this.#door = door;
		this.#work = work;
	}

	/** What a Send has to show, if anything. */
	get headers(): Record<string, string> {
		return this.#token === null ? {} : { 'hitsend-sentinel-token': this.#token };
	}

	/** Does the work there is, once, however many ask and stay. A refusal is thrown. */
	earn(left: AbortSignal): Promise<void> {
		this.#isAsked = true;
		if (this.#earning?.isOver !== false) this.#earning = new Joint((given) => this.#earn(given));
		return this.#earning.wait(left);
	}

	/** Somebody writes: where work was asked for before, it is done by the time they send. */
	async anticipate(): Promise<void> {
		if (!this.#isAsked || this.#token !== null || this.#earning?.isOver === false) return;
		await this.earn(this.#left.signal).catch((error: unknown) => {
			if (!this.#left.signal.aborted) failureOf(error);
		});
	}

	leave(): void {
		this.#left.abort();
		this.#earning?.giveUp();
		this.#keep(null);
	}

	async #earn(given: AbortSignal): Promise<void> {
		this.#keep(null);
		const { prepare_token, proofofwork } = await this.#door.askForWork();
		this.#isAsked = proofofwork.required;
		const proof = proofofwork.required ? await this.#solve(proofofwork, given) : null;
		this.#keep(await this.#door.showWork(prepare_token, proof));
	}

	async #solve({ seed, difficulty }: Seeded, given: AbortSignal): Promise<string> {
		if (!HEX.test(difficulty))
			throw new ApiError('The server asked for work that cannot be done.', 403, null);
		this.isWorking = true;
		try {
			return await this.#work({ seed, difficulty, nonce: newNonce() }, given);
		} catch (error) {
			if (!(error instanceof NoWorker)) throw error;
			throw new ApiError(error.message, 403, 'no_worker');
		} finally {
			this.isWorking = false;
		}
	}

	#keep(earned: { token: string; expire_after: number } | null): void {
		clearTimeout(this.#timer);
		this.#token = null;
		if (earned === null || this.#left.signal.aborted) return;
		this.#token = earned.token;
		const restMs = Math.max(0, earned.expire_after * 1000 - EARLY_MS);
		this.#timer = setTimeout(() => void this.#renew(earned.token), restMs);
	}

	/** A page that nobody looks at keeps nothing alive. What cannot be renewed is earned anew. */
	async #renew(token: string): Promise<void> {
		if (document.visibilityState === 'hidden' || !this.#isAsked) return this.#keep(null);
		try {
			this.#keep(await this.#door.keepAlive(token));
		} catch (error) {
			failureOf(error);
			this.#keep(null);
		}
	}
}

function newNonce(): string {
	return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NUM_NONCE_BYTES))));
}
