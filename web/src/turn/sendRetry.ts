/** Decides whether a failed Send is sent again, and when. Pure. */
import { ApiError, Unreachable } from '$/api/http';

export interface Retry {
	/** A limit was reached, the server is busy, or the server is unreachable. */
	reason: 'limit' | 'busy' | 'lost';
	/** The server's Retry-After, and the time at which it ends. */
	retryAfter: { ms: number; at: number } | null;
}

const MAX_TRIES = 12;
/** A message in the outbox needs fewer tries: the page shows it as waiting. */
const MAX_TRIES_IN_OUTBOX = 3;
/** A longer wait is shown as a failure: nobody watches the page that long. */
const MAX_WAIT_MS = 60_000;
/** Waiting does not help with these. */
const PERMANENT_CODES = ['quota_exceeded', 'model_broken'];

/** The server's Retry-After, up to one minute. */
export function getRetryAfterMs(error: unknown): number | null {
	if (!(error instanceof ApiError) || error.retryAfterMs === null) return null;
	return Math.min(error.retryAfterMs, MAX_WAIT_MS);
}

/** Returns null if the message is not sent again. */
export function planRetry(error: unknown, numTries: number, isInOutbox: boolean): Retry | null {
	if (error instanceof Unreachable) {
		const hasTriesLeft = numTries < (isInOutbox ? MAX_TRIES_IN_OUTBOX : MAX_TRIES);
		return hasTriesLeft ? { reason: 'lost', retryAfter: null } : null;
	}
	if (!(error instanceof ApiError) || !error.isTransient || numTries >= MAX_TRIES) return null;
	const { status, code, retryAfterMs: ms } = error;
	if (PERMANENT_CODES.includes(code ?? '') || (ms ?? 0) > MAX_WAIT_MS) return null;
	const retryAfter = ms === null ? null : { ms, at: Date.now() + ms };
	return { reason: status === 429 ? 'limit' : 'busy', retryAfter };
}
