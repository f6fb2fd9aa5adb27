/**
 * Highlights growing code in idle moments. After each run it pauses for a multiple of the time the run
 * took, so that typing is never held up.
 */
import { fetchHighlighter, MAX_CHARS, highlightCode, type Piece } from '$/markdown/highlight';

export interface HighlightedCode {
	text: string;
	pieces: Piece[];
}

const MIN_PAUSE_MS = 200;
const PAUSE_PER_MS = 20;

export class CodeHighlighter {
	#onhighlight: (code: HighlightedCode) => void;
	#text = '';
	#language = '';
	#timer: ReturnType<typeof setTimeout> | null = null;
	#pausedUntil = 0;
	#isStopped = false;

	constructor(onhighlight: (code: HighlightedCode) => void) {
		this.#onhighlight = onhighlight;
	}

	/** Schedules a run with the newest text. */
	update(text: string, language: string): void {
		this.#text = text;
		this.#language = language.toLowerCase();
		if (language === '' || text === '' || text.length > MAX_CHARS) return;
		const delay = Math.max(0, this.#pausedUntil - performance.now());
		this.#timer ??= setTimeout(() => void this.#highlight(), delay);
	}

	stop(): void {
		this.#isStopped = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
	}

	async #highlight(): Promise<void> {
		const highlighter = await fetchHighlighter();
		await waitForIdle();
		this.#timer = null;
		if (this.#isStopped || highlighter === null) return;
		const startedAt = performance.now();
		const text = this.#text;
		const pieces = highlightCode(highlighter, text, this.#language);
		if (pieces === null) return;
		const now = performance.now();
		this.#pausedUntil = now + Math.max(MIN_PAUSE_MS, (now - startedAt) * PAUSE_PER_MS);
		this.#onhighlight({ text, pieces });
	}
}

/** Safari has no idle callback. */
function waitForIdle(): Promise<unknown> {
	return new Promise((resolve) =>
		typeof requestIdleCallback === 'function'
			? requestIdleCallback(resolve, { timeout: 500 })
			: setTimeout(resolve, 1)
	);
}
