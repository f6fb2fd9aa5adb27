/**
 * Code as pieces with a colour each. The highlighter and its languages are fetched with the
 * first block of code. What comes out is text and names of colours: never HTML.
 */
import type { HLJSApi } from 'highlight.js';
import { fetchedOnce } from '$/markdown/fetched';

export interface Piece {
	text: string;
	/** What the piece is, as styles know it; empty for the rest. */
	kind: string;
}

/** Beyond this a block stays plain: colouring it would hold up the page. */
export const MOST_CHARS = 30_000;

export const fetchHighlighter = fetchedOnce<HLJSApi>(
	async () => (await import('$/markdown/languages')).default
);

/** Null where the language is not one we know. */
export function piecesOf(loaded: HLJSApi, text: string, language: string): Piece[] | null {
	if (text.length > MOST_CHARS || loaded.getLanguage(language) === undefined) return null;
	const { _emitter } = loaded.highlight(text, { language, ignoreIllegals: true });
	return flat((_emitter as unknown as { rootNode: Scope }).rootNode, '');
}

/** What the highlighter found, as it keeps it. */
interface Scope {
	scope?: string;
	children: (Scope | string)[];
}

function flat({ children }: Scope, kind: string): Piece[] {
	return children.flatMap((child) =>
		typeof child === 'string' ? [{ text: child, kind }] : flat(child, kindOf(child.scope) ?? kind)
	);
}

/** Many names for what is one colour here. */
function kindOf(scope: string | undefined): string | null {
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
