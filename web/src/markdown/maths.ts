/**
 * Formulas: where they stand in a text, and how they are drawn.
 *
 * `$…$` and `\(…\)` stand in a line, `$$…$$` and `\[…\]` alone. Money is not maths: a dollar
 * that opens is followed by something, and the one that closes by no digit. KaTeX is fetched
 * with the first formula.
 */
import type { TokenizerAndRendererExtension } from 'marked';
import { fetchedOnce } from '$/markdown/fetched';

export interface Maths {
	type: 'maths';
	raw: string;
	text: string;
	isDisplayed: boolean;
}

const IN_LINE = [
	/^\$\$(?!\$)((?:[^$\\]|\\[^])+?)\$\$(?!\$)/,
	/^\$(?![\s$])((?:[^$\\\n]|\\[^\n])*?(?:[^\s$\\]|\\[^\s]))\$(?![\d$])/,
	/^\\\((.+?)\\\)/s,
	/^\\\[(.+?)\\\]/s
];
const ALONE = [
	/^ {0,3}\$\$[ \t]*\n?([^]*?)\$\$[ \t]*(?:\n+|$)/,
	/^ {0,3}\\\[([^]*?)\\\][ \t]*(?:\n+|$)/
];

function found(
	rules: RegExp[],
	source: string,
	isDisplayed: (raw: string) => boolean
): Maths | undefined {
	for (const rule of rules) {
		const match = rule.exec(source);
		const text = match?.[1]?.trim() ?? '';
		if (match === null || text === '' || /\n\s*\n/.test(text)) continue;
		return { type: 'maths', raw: match[0], text, isDisplayed: isDisplayed(match[0]) };
	}
	return undefined;
}

export const MATHS: TokenizerAndRendererExtension[] = [
	{
		name: 'maths',
		level: 'block',
		start: (source) => /\n {0,3}(?:\$\$|\\\[)/.exec(source)?.index,
		tokenizer: (source) => found(ALONE, source, () => true)
	},
	{
		name: 'maths',
		level: 'inline',
		start: (source) => /\$|\\[([]/.exec(source)?.index,
		tokenizer: (source) => found(IN_LINE, source, (raw) => !/^(\$(?!\$)|\\\()/.test(raw))
	}
];

type Katex = typeof import('katex').default;

/** With its style and its fonts. */
const fetchKatex = fetchedOnce<Katex>(async () => {
	const [{ default: loaded }] = await Promise.all([
		import('katex'),
		import('katex/dist/katex.min.css')
	]);
	return loaded;
});

/** What was drawn before, by its source: a paragraph that grows is drawn again with every word. */
const drawn = new Map<string, Node>();
const MOST_DRAWN = 500;

/** Draws a formula in place of its source. What cannot be drawn stays as it was written. */
export function draw(place: HTMLElement, tex: string, isDisplayed: boolean): void {
	const key = `${isDisplayed} ${tex}`;
	const known = drawn.get(key);
	if (known !== undefined) {
		place.replaceChildren(known.cloneNode(true));
		return;
	}
	place.textContent = tex;
	void fetchKatex().then((loaded) => {
		// Without it, the source stays; and a place may have gone on to something else.
		if (loaded === null || place.textContent !== tex) return;
		drawWith(loaded, place, tex, isDisplayed);
		if (drawn.size >= MOST_DRAWN) drawn.clear();
		if (place.firstChild !== null) drawn.set(key, place.firstChild.cloneNode(true));
	});
}

function drawWith(loaded: Katex, place: HTMLElement, tex: string, isDisplayed: boolean): void {
	try {
		loaded.render(tex, place, {
			displayMode: isDisplayed,
			throwOnError: true,
			strict: 'ignore',
			trust: false,
			maxExpand: 200,
			maxSize: 20
		});
	} catch (error) {
		if (!(error instanceof loaded.ParseError)) throw error;
		place.textContent = tex;
	}
}
