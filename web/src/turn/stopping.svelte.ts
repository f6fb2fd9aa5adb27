/**
 * Ending a turn because somebody wants it to: the server is told as soon as the turn has a name.
 * Where it cannot be told the turn ends here, and what became of it is found out later.
 */
import { Unreachable } from '$/api/client';
import type { Turn } from '$/turn/turn.svelte';
import type { Door } from '$/turn/ways';

/** How long the server may take to name a turn that is being stopped, or to hear of the stop. */
const PATIENCE_MS = 3_000;

type Stoppable = Pick<
	Turn,
	'id' | 'conversationId' | 'retry' | 'isRunning' | 'isReconnecting' | 'leave' | 'abandon'
>;

export class Stopping {
	isAsked = $state(false);
	/** It ended here, without the server. */
	isCut = $state(false);
	#isTold = false;

	constructor(
		private readonly door: Pick<Door, 'stop'>,
		private readonly turn: Stoppable
	) {}

	ask(): void {
		this.isAsked = true;
		if (this.turn.isReconnecting) return this.#cut();
		if (this.turn.retry !== null) return this.turn.abandon();
		this.goOn();
		if (this.turn.id === null) setTimeout(() => this.#giveUp(), PATIENCE_MS);
	}

	/** The turn may have a name by now. */
	goOn(): void {
		const { id, conversationId } = this.turn;
		if (!this.isAsked || this.#isTold || id === null || conversationId === null) return;
		this.#isTold = true;
		const patience = setTimeout(() => this.#cut(), PATIENCE_MS);
		this.door
			.stop(conversationId, id)
			.catch((error: unknown) => {
				if (error instanceof Unreachable) return this.#cut();
				this.#isTold = false;
				this.isAsked = false;
			})
			.finally(() => clearTimeout(patience));
	}

	#giveUp(): void {
		if (this.turn.id === null) this.turn.abandon();
	}

	#cut(): void {
		if (!this.turn.isRunning) return;
		this.isCut = true;
		this.turn.leave();
	}
}
