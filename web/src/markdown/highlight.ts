/**
 * Splits code into pieces with a kind for colouring; never produces HTML. The highlighter and its
 * languages are loaded with the first code block.
 */
import type { HLJSApi } from 'highlight.js';
import { fetchOnce } from '$/markdown/fetchOnce';

export interface Piece {
	text: string;
	/** The CSS class of the piece; empty if it has none. */
	kind: string;
}

/** Longer code is not highlighted: it would block the page. */
export const MAX_CHARS = 30_000;

export const fetchHighlighter = fetchOnce<HLJSApi>(
	async () => (await import('$/markdown/languages')).default
);

/** Null for an unknown language. */
export function highlightCode(
	highlighter: HLJSApi,
	text: string,
	language: string
): Piece[] | null {
	if (text.length > MAX_CHARS || highlighter.getLanguage(language) === undefined) return null;
	const { _emitter } = highlighter.highlight(text, { language, ignoreIllegals: true });
	return flatten((_emitter as unknown as { rootNode: Scope }).rootNode, '');
}

/** The highlighter's internal tree. */
interface Scope {
	scope?: string;
	children: (Scope | string)[];
}

function flatten({ children }: Scope, kind: string): Piece[] {
	return children.flatMap((child) =>
		typeof child === 'string'
			? [{ text: child, kind }]
			: flatten(child, toKind(child.scope) ?? kind)
	);
}

/** Maps the highlighter's scopes to our colours. */
function toKind(scope: string | undefined): string | null {
	const name = scope?.split('.')[0] ?? '';
	for (const [kind, names] of Object.entries(KINDS)) {
		if (names.includes(name)) return kind;
	}
	return null;
}

const KINDS: Record<string, string[]> = {
	comment: ['comment', 'quote', 'doctag', 'deletion'],
	keyword: ['keyword', 'selector-tag', 'meta', 'tag', 'operator', 'section'],
	string: ['string', 'regexp', 'addition', 'char', 'link', 'template-tag'],
	number: ['number', 'literal', 'symbol', 'bullet'],
	name: [
		'title',
		'name',
		'function',
		'attr',
		'attribute',
		'selector-class',
		'selector-id',
		'property'
	],
	type: ['type', 'built_in', 'class', 'variable', 'template-variable']
};
