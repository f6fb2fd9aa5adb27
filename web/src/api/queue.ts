/** What arrives faster than it is read, in order. One reader; whoever fills it also ends it. */
export class Queue<T> {
	#items: T[] = [];
	#error: Error | null = null;
	#wake: () => void = () => undefined;

	put(...items: T[]): void {
		this.#items.push(...items);
		this.#wake();
	}

	/** The reader gets what is there, and then this. */
	fail(error: Error): void {
		this.#error ??= error;
		this.#wake();
	}

	async *read(): AsyncGenerator<T> {
		for (;;) {
			yield* this.#items.splice(0);
			if (this.#items.length > 0) continue;
			if (this.#error !== null) throw this.#error;
			await new Promise<void>((wake) => (this.#wake = wake));
		}
	}
}
