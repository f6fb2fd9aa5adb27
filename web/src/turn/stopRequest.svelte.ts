/**
 * Stops a turn at the person's request. The server is told as soon as the turn has an id. If it
 * cannot be told, the turn ends in this page, and its real end is fetched later.
 */
import { Unreachable } from '$/api/http';
import type { TurnApi } from '$/turn/transports';
import type { Turn } from '$/turn/turn.svelte';

/** How long the server may take to name the turn, or to answer the stop. */
const TIMEOUT_MS = 3_000;

type StoppableTurn = Pick<
	Turn,
	'id' | 'conversationId' | 'retry' | 'isRunning' | 'isReconnecting' | 'detach' | 'abort'
>;

export class StopRequest {
	isRequested = $state(false);
	/** The turn ended in this page, without the server. */
	isLocal = $state(false);
	#isSent = false;

	constructor(
		private readonly api: Pick<TurnApi, 'stop'>,
		private readonly turn: StoppableTurn
	) {}

	request(): void {
		this.isRequested = true;
		if (this.turn.isReconnecting) return this.#stopLocally();
		if (this.turn.retry !== null) return this.turn.abort();
		this.send();
		if (this.turn.id === null) setTimeout(() => this.#abortUnnamed(), TIMEOUT_MS);
	}

	/** Sends the stop if one was requested and the turn has an id by now. */
	send(): void {
		const { id, conversationId } = this.turn;
		if (!this.isRequested || this.#isSent || id === null || conversationId === null) return;
		this.#isSent = true;
		const timer = setTimeout(() => this.#stopLocally(), TIMEOUT_MS);
		this.api
			.stop(conversationId, id)
			.catch((error: unknown) => {
				if (error instanceof Unreachable) return this.#stopLocally();
				this.#isSent = false;
				this.isRequested = false;
			})
			.finally(() => clearTimeout(timer));
	}

	#abortUnnamed(): void {
		if (this.turn.id === null) this.turn.abort();
	}

	#stopLocally(): void {
		if (!this.turn.isRunning) return;
		this.isLocal = true;
		this.turn.detach();
	}
}
