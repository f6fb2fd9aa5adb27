/**
 * Parses and draws formulas.
 *
 * `$…$` and `\(…\)` are inline, `$$…$$` and `\[…\]` are display formulas. To tell formulas from money, an
 * opening dollar must not be followed by a space, nor a closing one by a digit. KaTeX is loaded with
 * the first formula.
 */
import type { TokenizerAndRendererExtension } from 'marked';
import { fetchOnce } from '$/markdown/fetchOnce';

export interface Maths {
	type: 'maths';
	raw: string;
	text: string;
	isDisplayed: boolean;
}

const INLINE_RULES = [
	/^\$\$(?!\$)((?:[^$\\]|\\[^])+?)\$\$(?!\$)/,
	/^\$(?![\s$])((?:[^$\\\n]|\\[^\n])*?(?:[^\s$\\]|\\[^\s]))\$(?![\d$])/,
	/^\\\((.+?)\\\)/s,
	/^\\\[(.+?)\\\]/s
];
/** Longer formulas stay text. The rules for blocks repeat the number. */
const MAX_CHARS = 4_000;
const BLOCK_RULES = [
	/^ {0,3}\$\$[ \t]*\n?((?:[^$]|\$(?!\$)){0,4000})\$\$[ \t]*(?:\n+|$)/,
	/^ {0,3}\\\[((?:[^\\]|\\(?!\])){0,4000})\\\][ \t]*(?:\n+|$)/
];

function parseFormula(
	rules: RegExp[],
	source: string,
	isDisplayed: (raw: string) => boolean
): Maths | undefined {
	for (const rule of rules) {
		const match = rule.exec(source);
		const text = match?.[1]?.trim() ?? '';
		if (match === null || text === '' || text.length > MAX_CHARS) continue;
		if (/\n[ \t]*\n/.test(text)) continue;
		return { type: 'maths', raw: match[0], text, isDisplayed: isDisplayed(match[0]) };
	}
	return undefined;
}

export const MATHS: TokenizerAndRendererExtension[] = [
	{
		name: 'maths',
		level: 'block',
		// Looks no further than the paragraph: marked asks again for each one.
		start: (source) => {
			const match = /\n(?: {0,3}(?:(\$\$|\\\[))|[ \t]*\n)/.exec(source);
			return match?.[1] === undefined ? undefined : match.index;
		},
		tokenizer: (source) => parseFormula(BLOCK_RULES, source, () => true)
	},
	{
		name: 'maths',
		level: 'inline',
		start: (source) => /\$|\\[([]/.exec(source)?.index,
		tokenizer: (source) =>
			parseFormula(INLINE_RULES, source, (raw) => !/^(\$(?!\$)|\\\()/.test(raw))
	}
];

type Katex = typeof import('katex').default;

const fetchKatex = fetchOnce<Katex>(async () => {
	const [{ default: loaded }] = await Promise.all([
		import('katex'),
		import('katex/dist/katex.min.css')
	]);
	return loaded;
});

/** Caches drawn formulas: a growing paragraph is drawn again with every token. */
const cache = new Map<string, Node>();
const MAX_CACHED = 500;
/** A fraction in a fraction is about 9 elements deeper. */
const MAX_ELEMENT_DEPTH = 300;

/** Draws a formula in place of its source. Keeps the source of an invalid formula. */
export function drawFormula(element: HTMLElement, tex: string, isDisplayed: boolean): void {
	const key = `${isDisplayed} ${tex}`;
	const cached = cache.get(key);
	if (cached !== undefined) {
		element.replaceChildren(cached.cloneNode(true));
		return;
	}
	element.textContent = tex;
	void fetchKatex().then((katex) => {
		// The element may show something else by now.
		if (katex === null || element.textContent !== tex) return;
		renderWith(katex, element, tex, isDisplayed);
		if (cache.size >= MAX_CACHED) cache.clear();
		if (element.firstChild !== null) cache.set(key, element.firstChild.cloneNode(true));
	});
}

/** Draws apart from the page: a formula that nests too deep would crash the browser's layout. */
function renderWith(katex: Katex, element: HTMLElement, tex: string, isDisplayed: boolean): void {
	const drawn = document.createElement('span');
	try {
		katex.render(tex, drawn, {
			displayMode: isDisplayed,
			throwOnError: true,
			strict: 'ignore',
			trust: false,
			maxExpand: 200,
			maxSize: 20
		});
	} catch (error) {
		if (!(error instanceof katex.ParseError || error instanceof RangeError)) reportError(error);
		return;
	}
	if (measureDepth(drawn) <= MAX_ELEMENT_DEPTH) element.replaceChildren(...drawn.childNodes);
}

/** The depth of the deepest element. Not recursive, so that any depth can be measured. */
function measureDepth(root: Element): number {
	let [deepest, depth] = [0, 0];
	let element: Element | null = root;
	while (element !== null) {
		deepest = Math.max(deepest, depth);
		if (element.firstElementChild !== null) {
			element = element.firstElementChild;
			depth++;
			continue;
		}
		while (element !== root && element.nextElementSibling === null) {
			element = element.parentElement as Element;
			depth--;
		}
		element = element === root ? null : element.nextElementSibling;
	}
	return deepest;
}
