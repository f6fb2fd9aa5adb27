/**
 * Puts what arrives of one turn over the socket in order: nothing twice, nothing left out. Pure:
 * it knows no socket, and is told the time.
 *
 * An item covers the events up to `seq`, `n` of them. It is read if it follows what was read
 * last; one that comes too early waits, and what is missing before it is asked for.
 */

export interface Item<T> {
	seq: number;
	n: number;
	body: T;
}

/** `nack` asks for what is missing; `restart`, after that has failed, for everything anew. */
export type Wish = { type: 'nack'; from: number; to: number } | { type: 'restart' };

/** How long an answer to a nack may take. */
export const PATIENCE_MS = 2_000;
export const MAX_EARLY = 64;
const MAX_NACKS = 2;

export class Topic<T> {
	#last: number;
	/** What came too early, by the event it follows. */
	#early = new Map<number, Item<T>>();
	#nack = { from: 0, count: 0, at: 0 };
	#isTorn = false;

	/** `last` is the last event that was read before. */
	constructor(last: number) {
		this.#last = last;
	}

	get last(): number {
		return this.#last;
	}

	/** What can be read now that this item is here. */
	take(item: Item<T>): T[] {
		const follows = item.seq - item.n;
		if (item.seq <= this.#last) return [];
		// Half of it was read already, and it cannot be parted; or more came early than we keep.
		if (follows < this.#last || this.#early.size === MAX_EARLY) this.#isTorn = true;
		else this.#early.set(follows, item);
		return this.#inOrder();
	}

	/** What the server should do about what is missing, if anything is. */
	wish(now: number): Wish | null {
		if (this.#isTorn) return { type: 'restart' };
		if (this.#early.size === 0) return null;
		const from = this.#last + 1;
		if (this.#nack.from !== from) this.#nack = { from, count: 0, at: 0 };
		const { count, at } = this.#nack;
		if (count > 0 && now - at < PATIENCE_MS) return null;
		if (count === MAX_NACKS) return { type: 'restart' };
		this.#nack = { from, count: count + 1, at: now };
		return { type: 'nack', from, to: Math.min(...this.#early.keys()) };
	}

	/** Goes on after event `seq`, whatever came before. */
	jump(seq: number): void {
		this.#last = seq;
		this.#isTorn = false;
		this.#early.clear();
	}

	#inOrder(): T[] {
		const ready: T[] = [];
		for (let next = this.#early.get(this.#last); next !== undefined;) {
			this.#early.delete(this.#last);
			this.#last = next.seq;
			ready.push(next.body);
			next = this.#early.get(this.#last);
		}
		// What the redelivery has covered meanwhile.
		for (const [follows, { seq }] of this.#early) {
			if (follows >= this.#last) continue;
			this.#early.delete(follows);
			this.#isTorn ||= seq > this.#last;
		}
		return ready;
	}
}
