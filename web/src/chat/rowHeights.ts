/**
 * The heights and positions of the rows of a long list: measured if a row was drawn, else estimated.
 * A change recomputes only the rows below it, so the last row grows at no cost.
 */
export class RowHeights {
	#ids: readonly string[] = [];
	#indexes = new Map<string, number>();
	#heights: number[] = [];
	/** `#tops[i]` is the top of row i; valid up to and including `#numValid`. */
	#tops: number[] = [0];
	#numValid = 0;
	/** Kept for rows that leave the list, in case they come back. */
	#measured = new Map<string, number>();

	get length(): number {
		return this.#ids.length;
	}
	get total(): number {
		return this.getTop(this.length);
	}

	setRows(ids: readonly string[], estimate: (id: string) => number): void {
		this.#ids = ids;
		this.#indexes = new Map(ids.map((id, i) => [id, i]));
		this.#heights = ids.map((id) => this.#measured.get(id) ?? estimate(id));
		this.#numValid = 0;
	}

	/** Returns whether the height changed. */
	measure(id: string, height: number): boolean {
		this.#measured.set(id, height);
		const index = this.#indexes.get(id);
		if (index === undefined || this.#heights[index] === height) return false;
		this.#heights[index] = height;
		this.#numValid = Math.min(this.#numValid, index);
		return true;
	}

	/** The index of a row, or -1. */
	indexOf(id: string): number {
		return this.#indexes.get(id) ?? -1;
	}

	/** The top of a row; for the length of the list, the bottom of the last row. */
	getTop(index: number): number {
		for (let i = this.#numValid; i < index; i++) {
			this.#tops[i + 1] = (this.#tops[i] ?? 0) + (this.#heights[i] ?? 0);
		}
		this.#numValid = Math.max(this.#numValid, index);
		return this.#tops[index] ?? 0;
	}

	/** The index of the row at a position; the first or last row beyond the ends. */
	indexAt(y: number): number {
		this.getTop(this.length);
		let [low, high] = [0, this.length - 1];
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.getTop(middle) <= y) low = middle;
			else high = middle - 1;
		}
		return low;
	}
}
