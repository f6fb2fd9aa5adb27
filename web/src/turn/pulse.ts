/** When the words of an answer came, as this browser saw it. In milliseconds. */

/** Enough to tell how an answer flowed; more of them would tell no more. */
const MAX_GAPS = 4_096;

export class Pulse {
	/** When the message was sent; null where the answer had begun before we looked. */
	#sentAt: number | null;
	#firstAt: number | null = null;
	#lastAt = 0;
	#gaps: number[] = [];
	#numChars = 0;
	numBeats = 0;

	constructor(isSent: boolean, now = performance.now()) {
		this.#sentAt = isSent ? now : null;
	}

	/** So much of the answer is there now. */
	hear(numChars: number, now = performance.now()): void {
		if (numChars <= this.#numChars) return;
		this.#numChars = numChars;
		this.numBeats += 1;
		if (this.#firstAt === null) this.#firstAt = now;
		else if (this.#gaps.length < MAX_GAPS) this.#gaps.push(now - this.#lastAt);
		this.#lastAt = now;
	}

	/** Null for an answer whose beginning we have not seen. */
	get firstMs(): number | null {
		return this.#sentAt === null || this.#firstAt === null ? null : this.#firstAt - this.#sentAt;
	}

	/** From Send to the last words. */
	get wholeMs(): number | null {
		return this.#sentAt === null || this.#firstAt === null ? null : this.#lastAt - this.#sentAt;
	}

	/** From word to word, the shortest first. */
	get gaps(): number[] {
		return this.#gaps.toSorted((one, other) => one - other);
	}
}
