/** Work that several may wait for. When the last of them has left, it is given up. */
export class Joint {
	/** Done, failed, or given up. */
	isOver = false;

	#numWaiting = 0;
	#given = new AbortController();
	#done: Promise<void>;

	constructor(work: (given: AbortSignal) => Promise<void>) {
		this.#done = work(this.#given.signal).finally(() => (this.isOver = true));
	}

	/** Rejects as the work does, and for whoever leaves. */
	async wait(left: AbortSignal): Promise<void> {
		this.#numWaiting += 1;
		const over = new AbortController();
		const leaving = new Promise<never>((_, reject) => {
			const leave = () => reject(left.reason as Error);
			if (left.aborted) leave();
			left.addEventListener('abort', leave, { signal: over.signal });
		});
		try {
			await Promise.race([this.#done, leaving]);
		} finally {
			over.abort();
			this.#numWaiting -= 1;
			if (this.#numWaiting === 0) this.giveUp();
		}
	}

	giveUp(): void {
		this.isOver = true;
		this.#given.abort();
	}
}
