/** Waiting between two tries of the same thing. */

/** How long to wait before trying again; at least as long as was `asked` for. */
export type Pause = (numTries: number, left: AbortSignal, askedMs?: number | null) => Promise<void>;

/** 0.3 s, then half as long again each time up to 5 s, and a little chance between many pages. */
export const backOff: Pause = (numTries, left, askedMs = null) => {
	const ms = Math.min(300 * 1.5 ** numTries, 5_000) * (0.75 + Math.random() / 4);
	return askedMs === null
		? waited(ms, left, true)
		: waited(askedMs * (1 + Math.random() / 4), left, false);
};

/** 1 s, then twice as long each time up to 30 s, and much chance: all pages lost it together. */
export const backFarOff: Pause = (numTries, left) =>
	waited(Math.min(1_000 * 2 ** numTries, 30_000) * (0.5 + Math.random()), left, true);

/** Whoever is left does not wait; nor, if `isHasty`, a browser that finds its network. */
async function waited(ms: number, left: AbortSignal, isHasty: boolean): Promise<void> {
	if (left.aborted) return;
	const over = new AbortController();
	await new Promise<void>((resolve) => {
		const now = () => resolve();
		const timer = setTimeout(now, ms);
		over.signal.addEventListener('abort', () => clearTimeout(timer));
		left.addEventListener('abort', now, { signal: over.signal });
		if (isHasty) addEventListener('online', now, { signal: over.signal });
	});
	over.abort();
}
