/**
 * When code gets its colours: in idle moments, and seldom enough that typing is never held up.
 * Code that grows is painted again and again, but each time rests for longer than it took.
 */
import { fetchHighlighter, MOST_CHARS, piecesOf, type Piece } from '$/markdown/highlight';

/** Code with its colours. */
export interface Painted {
	text: string;
	pieces: Piece[];
}

const REST_MS = 200;
const REST_PER_COST = 20;

export class Painter {
	#take: (painted: Painted) => void;
	#text = '';
	#language = '';
	#timer: ReturnType<typeof setTimeout> | null = null;
	#restUntil = 0;
	#isOver = false;

	constructor(take: (painted: Painted) => void) {
		this.#take = take;
	}

	/** Paints the newest text it was given, when there is time. */
	want(text: string, language: string): void {
		this.#text = text;
		this.#language = language.toLowerCase();
		if (language === '' || text === '' || text.length > MOST_CHARS) return;
		const rest = Math.max(0, this.#restUntil - performance.now());
		this.#timer ??= setTimeout(() => void this.#paint(), rest);
	}

	end(): void {
		this.#isOver = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
	}

	async #paint(): Promise<void> {
		const highlighter = await fetchHighlighter();
		await whenIdle();
		this.#timer = null;
		if (this.#isOver || highlighter === null) return;
		const began = performance.now();
		const text = this.#text;
		const pieces = piecesOf(highlighter, text, this.#language);
		if (pieces === null) return;
		const now = performance.now();
		this.#restUntil = now + Math.max(REST_MS, (now - began) * REST_PER_COST);
		this.#take({ text, pieces });
	}
}

/** Safari knows no idle callback. */
function whenIdle(): Promise<unknown> {
	return new Promise((resolve) =>
		typeof requestIdleCallback === 'function'
			? requestIdleCallback(resolve, { timeout: 500 })
			: setTimeout(resolve, 1)
	);
}
