/** A task that several callers wait for. It is aborted when the last of them stops waiting. */
export class SharedTask {
	/** Whether it has succeeded, failed or been aborted. */
	isOver = false;

	#numWaiting = 0;
	#aborted = new AbortController();
	#done: Promise<void>;

	constructor(run: (signal: AbortSignal) => Promise<void>) {
		this.#done = run(this.#aborted.signal).finally(() => (this.isOver = true));
	}

	/** Rejects if the task fails, or if the signal aborts. */
	async wait(signal: AbortSignal): Promise<void> {
		this.#numWaiting += 1;
		const done = new AbortController();
		const aborted = new Promise<never>((_, reject) => {
			const abort = () => reject(signal.reason as Error);
			if (signal.aborted) abort();
			signal.addEventListener('abort', abort, { signal: done.signal });
		});
		try {
			await Promise.race([this.#done, aborted]);
		} finally {
			done.abort();
			this.#numWaiting -= 1;
			if (this.#numWaiting === 0) this.abort();
		}
	}

	abort(): void {
		this.isOver = true;
		this.#aborted.abort();
	}
}
