/** How long to wait before trying again. */
export type Pause = (numTries: number, left: AbortSignal) => Promise<void>;

/**
 * 0.3 s, then half as long again each time up to 5 s, and a little chance between many pages.
 * A browser that finds its network again, or is left, does not wait.
 */
export async function backOff(numTries: number, left: AbortSignal): Promise<void> {
	const ms = Math.min(300 * 1.5 ** numTries, 5_000) * (0.75 + Math.random() / 2);
	const over = new AbortController();
	await new Promise<void>((resolve) => {
		const now = () => resolve();
		setTimeout(now, ms);
		left.addEventListener('abort', now, { signal: over.signal });
		window.addEventListener('online', now, { signal: over.signal });
	});
	over.abort();
}
