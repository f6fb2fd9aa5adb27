/**
 * Delivers the messages of the outbox, in all conversations. A message stays in the outbox until
 * the server has accepted or refused it; one that finds no server waits and is sent again. It does
 * not know what is on the screen: callbacks report the results.
 */
import { shortBackoff, type Backoff } from '$/api/backoff';
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Failure } from '$/api/wire';
import type { Outbox, OutgoingMessage } from '$/state/outbox';
import { buildSendBody } from '$/state/sendBody';
import { Turn } from '$/turn/turn.svelte';

/** `waiting`: the server is unreachable. `refused` without a failure: the person stopped it. */
export type DeliveryResult =
	{ kind: 'accepted' } | { kind: 'waiting' } | { kind: 'refused'; failure: Failure | null };

export class Delivery {
	waiting = $state.raw<OutgoingMessage[]>([]);

	/** Whether the screen allows a waiting message to be sent now. */
	canSend: (outgoing: OutgoingMessage) => boolean = () => true;
	/** Whether the server has accepted a waiting message, and only its response was lost. */
	isStored: (outgoing: OutgoingMessage) => boolean = () => false;
	/** Called when a waiting message is sent. */
	onsend: (outgoing: OutgoingMessage, turn: Turn) => void = () => undefined;
	/** Called with each result. Returns whether the turn is shown somewhere. */
	onsettled: (outgoing: OutgoingMessage, result: DeliveryResult) => boolean = () => false;

	#api: Api;
	#outbox: Outbox;
	#backoff: Backoff;
	#closed = new AbortController();
	/** The messages that this tab delivers or waits to deliver, with the turn while one is sent. */
	#deliveries = new Map<string, Turn | null>();

	constructor(api: Api, outbox: Outbox, backoff: Backoff = shortBackoff) {
		this.#api = api;
		this.#outbox = outbox;
		this.#backoff = backoff;
	}

	/** Delivers the messages that were left in the outbox when the page was closed. */
	start(): void {
		this.#outbox.watch(() => this.#readOutbox(), this.#closed.signal);
		for (const { id } of this.#outbox.messages) void this.#deliver(id, null);
	}

	/** Sends a message with this turn. Resolves when the result is known. */
	async send(outgoing: OutgoingMessage, turn: Turn): Promise<void> {
		this.#outbox.put(outgoing);
		await this.#deliver(outgoing.id, turn);
	}

	/** The message that waits in a conversation. Null stands for a new conversation. */
	waitingIn(conversationId: string | null): OutgoingMessage | null {
		const isHere = (one: OutgoingMessage) => one.conversationId === conversationId;
		return this.waiting.find((one) => isHere(one) && !this.isStored(one)) ?? null;
	}

	/** The message that is being sent to a conversation now. */
	sendingTo(conversationId: string): { outgoing: OutgoingMessage; turn: Turn } | null {
		for (const [id, turn] of this.#deliveries) {
			const outgoing = this.#outbox.find(id);
			if (turn !== null && outgoing?.conversationId === conversationId) return { outgoing, turn };
		}
		return null;
	}

	/** Removes a waiting message and returns it. Null if it no longer waits. */
	cancel(id: string): OutgoingMessage | null {
		const outgoing = this.#outbox.find(id);
		if (!outgoing?.isWaiting || this.isStored(outgoing)) return null;
		this.#remove(id);
		return outgoing;
	}

	/** Undelivered messages stay in the outbox. */
	close(): void {
		this.#closed.abort();
		for (const turn of this.#deliveries.values()) turn?.abort();
	}

	/** A lock lets one tab at a time deliver a message; if that tab closes, the next takes over. */
	async #deliver(id: string, turn: Turn | null): Promise<void> {
		if (this.#deliveries.has(id)) return;
		this.#deliveries.set(id, turn);
		try {
			await withLock(id, this.#closed.signal, () => this.#sendUntilSettled(id, turn));
		} finally {
			this.#deliveries.delete(id);
		}
	}

	async #sendUntilSettled(id: string, firstTurn: Turn | null): Promise<void> {
		const written = this.#find(id);
		if (written !== null && firstTurn !== null && (await this.#send(written, firstTurn))) return;
		this.#setWaiting(id, true);
		for (let numTries = 0; this.#find(id) !== null; numTries++) {
			await this.#backoff(numTries, this.#closed.signal);
			if (this.#find(id) === null || !(await this.#isServerUp())) continue;
			const outgoing = this.#find(id);
			if (outgoing !== null && this.isStored(outgoing)) return this.#remove(id);
			if (outgoing === null || !this.canSend(outgoing)) continue;
			const turn = new Turn(this.#api, { body: buildSendBody(outgoing) });
			this.#setWaiting(id, false);
			this.onsend(outgoing, turn);
			if (await this.#send(outgoing, turn)) return;
		}
	}

	/** Returns false if the message has to wait. */
	async #send(outgoing: OutgoingMessage, turn: Turn): Promise<boolean> {
		const { id } = outgoing;
		this.#deliveries.set(id, turn);
		void turn.run();
		const result = toResult(await turn.accepted, turn.failure);
		this.#deliveries.set(id, null);
		if (this.#closed.signal.aborted) return true;
		if (result.kind === 'waiting') this.#setWaiting(id, true);
		else this.#outbox.remove(id);
		if (!this.onsettled(outgoing, result)) turn.detach();
		return result.kind !== 'waiting';
	}

	async #isServerUp(): Promise<boolean> {
		try {
			await this.#api.getStatus();
			return true;
		} catch (error) {
			return toFailure(error).code !== 'unreachable';
		}
	}

	#remove(id: string): void {
		this.#outbox.remove(id);
		this.#readOutbox();
	}

	#setWaiting(id: string, isWaiting: boolean): void {
		const outgoing = this.#find(id);
		if (outgoing !== null) this.#outbox.put({ ...outgoing, isWaiting });
		this.#readOutbox();
	}

	/** Null if it was cancelled, if another tab delivered it, or after `close`. */
	#find(id: string): OutgoingMessage | null {
		return this.#closed.signal.aborted ? null : this.#outbox.find(id);
	}

	#readOutbox(): void {
		if (this.#closed.signal.aborted) return;
		this.waiting = this.#outbox.messages.filter(({ isWaiting }) => isWaiting);
		for (const { id } of this.waiting) void this.#deliver(id, null);
	}
}

function toResult(isAccepted: boolean, failure: Failure | null): DeliveryResult {
	if (isAccepted) return { kind: 'accepted' };
	return failure?.code === 'unreachable' ? { kind: 'waiting' } : { kind: 'refused', failure };
}

/** Browsers have locks on https and localhost only. Without a lock the server drops the duplicate. */
async function withLock(id: string, signal: AbortSignal, run: () => Promise<void>): Promise<void> {
	if (!('locks' in navigator)) return run();
	try {
		await navigator.locks.request(`hitsend.letter.${id}`, { signal }, run);
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
