/**
 * Where the rows of a long list lie: as measured where a row has been seen, as guessed where
 * not. A row that grows moves only what is below it, so the last row grows for nothing.
 */
export class Extents {
	#ids: readonly string[] = [];
	#places = new Map<string, number>();
	#heights: number[] = [];
	/** `#tops[i]` is where row i begins; right up to and with `#numSure`. */
	#tops: number[] = [0];
	#numSure = 0;
	/** Outlives the list, because a row that comes back is as high as it was. */
	#measured = new Map<string, number>();

	get length(): number {
		return this.#ids.length;
	}
	get total(): number {
		return this.topOf(this.length);
	}

	lay(ids: readonly string[], guess: (id: string) => number): void {
		this.#ids = ids;
		this.#places = new Map(ids.map((id, i) => [id, i]));
		this.#heights = ids.map((id) => this.#measured.get(id) ?? guess(id));
		this.#numSure = 0;
	}

	/** True if the row is not as high as it was thought to be. */
	measure(id: string, height: number): boolean {
		this.#measured.set(id, height);
		const place = this.#places.get(id);
		if (place === undefined || this.#heights[place] === height) return false;
		this.#heights[place] = height;
		this.#numSure = Math.min(this.#numSure, place);
		return true;
	}

	/** Where a row stands in the list, or -1. */
	placeOf(id: string): number {
		return this.#places.get(id) ?? -1;
	}

	/** Where a row begins; for the length of the list, where the last one ends. */
	topOf(place: number): number {
		for (let i = this.#numSure; i < place; i++) {
			this.#tops[i + 1] = (this.#tops[i] ?? 0) + (this.#heights[i] ?? 0);
		}
		this.#numSure = Math.max(this.#numSure, place);
		return this.#tops[place] ?? 0;
	}

	/** The row at a height; the first or the last beyond the ends. */
	placeAt(y: number): number {
		this.topOf(this.length);
		let [low, high] = [0, this.length - 1];
		while (low < high) {
			const middle = (low + high + 1) >> 1;
			if (this.topOf(middle) <= y) low = middle;
			else high = middle - 1;
		}
		return low;
	}
}
