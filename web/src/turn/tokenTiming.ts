/** When the text of an answer arrived in this browser, in milliseconds. */

/** Enough for the percentiles of a long answer. */
const MAX_GAPS = 4_096;

export class TokenTiming {
	/** Null if the answer had started before this page followed it. */
	#sentAt: number | null;
	#firstAt: number | null = null;
	#lastAt = 0;
	#isPaused = false;
	#gaps: number[] = [];
	#numChars = 0;
	numChunks = 0;

	constructor(wasSentHere: boolean, now = performance.now()) {
		this.#sentAt = wasSentHere ? now : null;
	}

	/** The answer waits for a tool: the time until its next text is no time between chunks. */
	pause(): void {
		this.#isPaused = true;
	}

	/** Call with the length of the answer so far. */
	record(numChars: number, now = performance.now()): void {
		if (numChars <= this.#numChars) return;
		this.#numChars = numChars;
		this.numChunks += 1;
		if (this.#firstAt === null) this.#firstAt = now;
		else if (!this.#isPaused && this.#gaps.length < MAX_GAPS) this.#gaps.push(now - this.#lastAt);
		this.#lastAt = now;
		this.#isPaused = false;
	}

	/** Time to first token. Null if the start of the answer was not seen here. */
	get firstTokenMs(): number | null {
		return this.#sentAt === null || this.#firstAt === null ? null : this.#firstAt - this.#sentAt;
	}

	/** From Send to the last text. */
	get totalMs(): number | null {
		return this.#sentAt === null || this.#firstAt === null ? null : this.#lastAt - this.#sentAt;
	}

	/** Times between chunks, ascending. */
	get gaps(): number[] {
		return this.#gaps.toSorted((one, other) => one - other);
	}
}
