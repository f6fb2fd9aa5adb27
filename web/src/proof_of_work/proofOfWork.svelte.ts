/**
 * The proof of work that the server may require before a Send. It is solved in a worker; the token
 * for it is kept and renewed until it expires. Without a requirement, no request is made.
 */
import type { Api } from '$/api/client';
import { ApiError, toFailure } from '$/api/http';
import type { ChatRequirements, ProofToken } from '$/api/wire';
import { SharedTask } from '$/proof_of_work/sharedTask';
import { NoWorker, solveInWorker, type Solve } from '$/proof_of_work/solveInWorker';

type ProofApi = Pick<Api, 'requestChallenge' | 'submitProof' | 'renewProof'>;

/** How long before it expires a token is renewed. */
const RENEW_BEFORE_MS = 60_000;
/** Eight characters in base64. */
const NUM_NONCE_BYTES = 6;
const HEX = /^[0-9a-f]+$/;

export class ProofOfWork {
	isWorking = $state(false);

	#api: ProofApi;
	#solve: Solve;
	#closed = new AbortController();
	#token: string | null = null;
	/** Whether the server required a proof before. */
	#isRequired = false;
	#earning: SharedTask | null = null;
	#timer: ReturnType<typeof setTimeout> | undefined;

	constructor(api: ProofApi, solve: Solve = solveInWorker) {
		this.#api = api;
		this.#solve = solve;
	}

	/** The headers of a Send. */
	get headers(): Record<string, string> {
		return this.#token === null ? {} : { 'hitsend-sentinel-token': this.#token };
	}

	/** Earns a token, once for all concurrent callers. Throws if the server refuses. */
	earnToken(signal: AbortSignal): Promise<void> {
		this.#isRequired = true;
		if (this.#earning?.isOver !== false) this.#earning = new SharedTask((task) => this.#earn(task));
		return this.#earning.wait(signal);
	}

	/** Call while the person writes: earns a token ahead if the server required one before. */
	async solveAhead(): Promise<void> {
		if (!this.#isRequired || this.#token !== null || this.#earning?.isOver === false) return;
		await this.earnToken(this.#closed.signal).catch((error: unknown) => {
			if (!this.#closed.signal.aborted) toFailure(error);
		});
	}

	close(): void {
		this.#closed.abort();
		this.#earning?.abort();
		this.#setToken(null);
	}

	async #earn(signal: AbortSignal): Promise<void> {
		this.#setToken(null);
		const { prepare_token, proofofwork } = await this.#api.requestChallenge();
		this.#isRequired = proofofwork.required;
		const proof = proofofwork.required ? await this.#solveChallenge(proofofwork, signal) : null;
		this.#setToken(await this.#api.submitProof(prepare_token, proof));
	}

	async #solveChallenge(
		{ seed, difficulty }: ChatRequirements['proofofwork'],
		signal: AbortSignal
	): Promise<string> {
		if (!HEX.test(difficulty))
			throw new ApiError('The server asked for work that cannot be done.', 403, null);
		this.isWorking = true;
		try {
			return await this.#solve({ seed, difficulty, nonce: createNonce() }, signal);
		} catch (error) {
			if (!(error instanceof NoWorker)) throw error;
			throw new ApiError(error.message, 403, 'no_worker');
		} finally {
			this.isWorking = false;
		}
	}

	#setToken(earned: ProofToken | null): void {
		clearTimeout(this.#timer);
		this.#token = null;
		if (earned === null || this.#closed.signal.aborted) return;
		this.#token = earned.token;
		const waitMs = Math.max(0, earned.expire_after * 1000 - RENEW_BEFORE_MS);
		this.#timer = setTimeout(() => void this.#renew(earned.token), waitMs);
	}

	/** A hidden page lets its token expire. After a failure a new token has to be earned. */
	async #renew(token: string): Promise<void> {
		if (document.visibilityState === 'hidden' || !this.#isRequired) return this.#setToken(null);
		try {
			this.#setToken(await this.#api.renewProof(token));
		} catch (error) {
			toFailure(error);
			this.#setToken(null);
		}
	}
}

function createNonce(): string {
	return btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(NUM_NONCE_BYTES))));
}
