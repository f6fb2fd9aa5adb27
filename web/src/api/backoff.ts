/** Backoff: how long to wait before the next try. */

/** Resolves when the next try is due. Waits at least `retryAfterMs` if the server sent one. */
export type Backoff = (
	numTries: number,
	signal: AbortSignal,
	retryAfterMs?: number | null
) => Promise<void>;

/** 0.3 s, times 1.5 for each try up to 5 s, minus up to a quarter of jitter. */
export const shortBackoff: Backoff = (numTries, signal, retryAfterMs = null) => {
	const ms = Math.min(300 * 1.5 ** numTries, 5_000) * (0.75 + Math.random() / 4);
	return retryAfterMs === null
		? wait(ms, signal, true)
		: wait(retryAfterMs * (1 + Math.random() / 4), signal, false);
};

/** 1 s, doubled for each try up to 30 s. Jitter of half, because all pages lose a server at once. */
export const longBackoff: Backoff = (numTries, signal) =>
	wait(Math.min(1_000 * 2 ** numTries, 30_000) * (0.5 + Math.random()), signal, true);

/** Ends early when aborted and, with `endsOnline`, when the browser finds a network. */
async function wait(ms: number, signal: AbortSignal, endsOnline: boolean): Promise<void> {
	if (signal.aborted) return;
	const done = new AbortController();
	await new Promise<void>((resolve) => {
		const end = () => resolve();
		const timer = setTimeout(end, ms);
		done.signal.addEventListener('abort', () => clearTimeout(timer));
		signal.addEventListener('abort', end, { signal: done.signal });
		if (endsOnline) addEventListener('online', end, { signal: done.signal });
	});
	done.abort();
}
