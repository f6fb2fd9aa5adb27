/** Whether a message that was not taken is sent again by itself, and when. Pure. */
import { ApiError, Unreachable } from '$/api/client';

export interface Retry {
	/** Too much was asked for; the server cannot just now, or cannot be found. */
	reason: 'limit' | 'busy' | 'lost';
	/** How long the server wants us to wait, if it says so, and until when that is. */
	asked: { ms: number; at: number } | null;
}

const MAX_TRIES = 12;
/** A message that is kept may wait for the server where its writer sees it wait. */
const MAX_TRIES_OF_KEPT = 3;
/** Nobody sits before the page for longer. */
const LONGEST_MS = 60_000;
/** What waiting does not mend. */
const LASTING = ['quota_exceeded', 'model_broken'];

/** How long the server wants us to wait, if it says so. Nobody waits for longer than they sit there. */
export function waitAskedBy(error: unknown): number | null {
	if (!(error instanceof ApiError) || error.retryAfterMs === null) return null;
	return Math.min(error.retryAfterMs, LONGEST_MS);
}

/** Null if it is not. `isKept` says that somebody else goes on trying where nobody answers. */
export function retryAfter(error: unknown, numTries: number, isKept: boolean): Retry | null {
	if (error instanceof Unreachable) {
		const isWorthIt = numTries < (isKept ? MAX_TRIES_OF_KEPT : MAX_TRIES);
		return isWorthIt ? { reason: 'lost', asked: null } : null;
	}
	if (!(error instanceof ApiError) || !error.mayPass || numTries >= MAX_TRIES) return null;
	const { status, code, retryAfterMs: ms } = error;
	if (LASTING.includes(code ?? '') || (ms ?? 0) > LONGEST_MS) return null;
	const asked = ms === null ? null : { ms, at: Date.now() + ms };
	return { reason: status === 429 ? 'limit' : 'busy', asked };
}
