/**
 * How what is being written might go on. Proposed when the writing rests, gone with the next key.
 * It knows nothing of where the words are drawn.
 */
import { failureOf } from '$/api/client';
import type { Completions } from '$/api/wire';

const REST_MS = 120;
/** A server that is too slow for this, or will not do it, is left alone for so long. */
const QUIET_MS = 600_000;
const MIN_CHARS = 4;
const MAX_CHARS = 2_000;

type Complete = (written: string, signal: AbortSignal) => Promise<Completions>;

export class Ghost {
	#proposed = $state.raw({ after: '', text: '' });
	#complete: Complete;
	#timer: ReturnType<typeof setTimeout> | undefined;
	#asking: AbortController | null = null;
	#quietUntil = 0;

	constructor(complete: Complete) {
		this.#complete = complete;
	}

	/** What would come after these words; empty where nothing is proposed. */
	after(written: string): string {
		return this.#proposed.after === written ? this.#proposed.text : '';
	}

	/** Somebody has written this, and the caret is at its end. */
	follow(written: string): void {
		this.dismiss();
		if (!isWorthIt(written) || Date.now() < this.#quietUntil) return;
		this.#timer = setTimeout(() => void this.#ask(written), REST_MS);
	}

	dismiss(): void {
		clearTimeout(this.#timer);
		this.#asking?.abort();
		this.#asking = null;
		if (this.#proposed.text !== '') this.#proposed = { after: '', text: '' };
	}

	async #ask(written: string): Promise<void> {
		const asking = new AbortController();
		this.#asking = asking;
		try {
			const { completions, is_enabled } = await this.#complete(written, asking.signal);
			if (!is_enabled) this.#quietUntil = Date.now() + QUIET_MS;
			if (asking.signal.aborted) return;
			this.#proposed = { after: written, text: completions?.[0] ?? '' };
		} catch (error) {
			if (asking.signal.aborted) return;
			// Words that do not come are not missed; but who refuses once is not asked at every key.
			if (failureOf(error).code !== 'unreachable') this.#quietUntil = Date.now() + QUIET_MS;
		}
	}
}

/** A command is no sentence, and one word tells too little. */
function isWorthIt(written: string): boolean {
	const numChars = written.trim().length;
	return numChars >= MIN_CHARS && written.length <= MAX_CHARS && !written.startsWith('/');
}
