/** How long to wait before trying again; at least as long as was `asked` for. */
export type Pause = (numTries: number, left: AbortSignal, askedMs?: number | null) => Promise<void>;

/**
 * 0.3 s, then half as long again each time up to 5 s, and a little chance between many pages.
 * Whoever is left does not wait; nor, where nobody asked for it, a browser that finds its network.
 */
export async function backOff(
	numTries: number,
	left: AbortSignal,
	askedMs: number | null = null
): Promise<void> {
	if (left.aborted) return;
	const ms = askedMs ?? Math.min(300 * 1.5 ** numTries, 5_000);
	const over = new AbortController();
	await new Promise<void>((resolve) => {
		const now = () => resolve();
		const timer = setTimeout(now, ms * ((askedMs === null ? 0.75 : 1) + Math.random() / 4));
		over.signal.addEventListener('abort', () => clearTimeout(timer));
		left.addEventListener('abort', now, { signal: over.signal });
		if (askedMs === null) window.addEventListener('online', now, { signal: over.signal });
	});
	over.abort();
}
