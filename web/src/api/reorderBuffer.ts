/**
 * Puts the items of one turn that arrive over the socket in order, without duplicates or gaps.
 * Pure: it knows no socket, and its caller passes the time.
 *
 * An item covers `n` events, up to event `seq`. It is delivered if it follows the last delivered
 * event. An earlier arrival is buffered, and the events missing before it are requested.
 */

export interface Item<T> {
	seq: number;
	n: number;
	body: T;
}

/** `nack` requests the missing events; `restart`, after nacks have failed, the whole turn. */
export type RepairRequest = { type: 'nack'; from: number; to: number } | { type: 'restart' };

/** How long the server may take to answer a nack. */
export const NACK_TIMEOUT_MS = 2_000;
export const MAX_BUFFERED = 64;
const MAX_NACKS = 2;

export class ReorderBuffer<T> {
	#lastSeq: number;
	/** The items that arrived too early, by the event they follow. */
	#buffered = new Map<number, Item<T>>();
	#nack = { from: 0, count: 0, at: 0 };
	#needsRestart = false;

	/** `lastSeq` is the last event that was read before. */
	constructor(lastSeq: number) {
		this.#lastSeq = lastSeq;
	}

	get lastSeq(): number {
		return this.#lastSeq;
	}

	/** Adds an item, and returns the bodies that can be delivered now. */
	add(item: Item<T>): T[] {
		const follows = item.seq - item.n;
		if (item.seq <= this.#lastSeq) return [];
		// An item cannot be split, so one that was half delivered is of no use.
		if (follows < this.#lastSeq || this.#buffered.size === MAX_BUFFERED) this.#needsRestart = true;
		else this.#buffered.set(follows, item);
		return this.#takeReady();
	}

	/** What to request from the server now, or null. */
	repair(now: number): RepairRequest | null {
		if (this.#needsRestart) return { type: 'restart' };
		if (this.#buffered.size === 0) return null;
		const from = this.#lastSeq + 1;
		if (this.#nack.from !== from) this.#nack = { from, count: 0, at: 0 };
		const { count, at } = this.#nack;
		if (count > 0 && now - at < NACK_TIMEOUT_MS) return null;
		if (count === MAX_NACKS) return { type: 'restart' };
		this.#nack = { from, count: count + 1, at: now };
		return { type: 'nack', from, to: Math.min(...this.#buffered.keys()) };
	}

	/** Continues after event `seq`, and forgets everything before. */
	jump(seq: number): void {
		this.#lastSeq = seq;
		this.#needsRestart = false;
		this.#buffered.clear();
	}

	#takeReady(): T[] {
		const ready: T[] = [];
		for (let next = this.#buffered.get(this.#lastSeq); next !== undefined;) {
			this.#buffered.delete(this.#lastSeq);
			this.#lastSeq = next.seq;
			ready.push(next.body);
			next = this.#buffered.get(this.#lastSeq);
		}
		// A redelivery may have covered a part of what is buffered.
		for (const [follows, { seq }] of this.#buffered) {
			if (follows >= this.#lastSeq) continue;
			this.#buffered.delete(follows);
			this.#needsRestart ||= seq > this.#lastSeq;
		}
		return ready;
	}
}
