/**
 * Autocomplete for the message being written: proposed after a pause, dismissed by the next key.
 * It does not draw.
 */
import { toFailure } from '$/api/http';
import type { Completions } from '$/api/wire';

const DEBOUNCE_MS = 120;
/** How long a server that is too slow, or refuses, is not asked again. */
const DISABLED_MS = 600_000;
const MIN_CHARS = 4;
const MAX_CHARS = 2_000;

type Complete = (draft: string, signal: AbortSignal) => Promise<Completions>;

export class Autocomplete {
	#proposal = $state.raw({ draft: '', text: '' });
	#complete: Complete;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#pending: AbortController | null = null;
	#disabledUntil = 0;

	constructor(complete: Complete) {
		this.#complete = complete;
	}

	/** The proposed continuation of a draft, or an empty string. */
	getContinuation(draft: string): string {
		return this.#proposal.draft === draft ? this.#proposal.text : '';
	}

	/** Call when the draft has changed and the caret is at its end. */
	update(draft: string): void {
		this.dismiss();
		if (!isCompletable(draft) || Date.now() < this.#disabledUntil) return;
		this.#timer = setTimeout(() => void this.#request(draft), DEBOUNCE_MS);
	}

	dismiss(): void {
		clearTimeout(this.#timer);
		this.#pending?.abort();
		this.#pending = null;
		if (this.#proposal.text !== '') this.#proposal = { draft: '', text: '' };
	}

	async #request(draft: string): Promise<void> {
		const pending = new AbortController();
		this.#pending = pending;
		try {
			const { completions, is_enabled } = await this.#complete(draft, pending.signal);
			if (!is_enabled) this.#disabledUntil = Date.now() + DISABLED_MS;
			if (pending.signal.aborted) return;
			this.#proposal = { draft, text: completions?.[0] ?? '' };
		} catch (error) {
			if (pending.signal.aborted) return;
			// A failure is not shown, but a server that refuses is not asked at every key.
			if (toFailure(error).code !== 'unreachable') this.#disabledUntil = Date.now() + DISABLED_MS;
		}
	}
}

/** Excludes slash commands and very short or long drafts. */
function isCompletable(draft: string): boolean {
	const numChars = draft.trim().length;
	return numChars >= MIN_CHARS && draft.length <= MAX_CHARS && !draft.startsWith('/');
}
