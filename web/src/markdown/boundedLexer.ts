/**
 * Splits Markdown into tokens with bounded nesting and bounded work, whatever the text is.
 *
 * Marks nested deeper than the limit stay text. A paragraph with too many marks for its length stays
 * text, because marked takes quadratic time for it. A block that marked fails on stays text.
 */
import { Lexer, Marked, Tokenizer, type Token, type Tokens, type TokensList } from 'marked';
import { MATHS } from '$/markdown/maths';

/** Of quotes and lists, and likewise of emphasis and links. */
export const MAX_DEPTH = 32;
/** Characters times marks, per paragraph and per text. 10^8 take about half a second. */
const MAX_PARAGRAPH_WORK = 2e7;
const MAX_TOTAL_WORK = 1e8;

/** Source shown as it is. */
export interface Plain {
	type: 'plain';
	raw: string;
}

type Links = TokensList['links'];

const { defaults } = new Marked({ gfm: true }, { extensions: MATHS });

export function lexMarkdown(source: string, links: Links): { tokens: Token[]; links: Links } {
	const { tokens, links: found } = lex(source, links);
	if (tokens !== null) return { tokens, links: found };
	// Some block fails: lex each paragraph by itself, so that only that one stays text.
	const all = { tokens: [] as Token[], links };
	for (const part of source.split(/(?<=\n[ \t]*\n)(?!\n)/)) {
		const piece = lex(part, all.links);
		all.tokens.push(...(piece.tokens ?? [{ type: 'plain', raw: part } satisfies Plain]));
		all.links = piece.links;
	}
	return all;
}

/** The tokens are null if marked fails. */
function lex(source: string, links: Links): { tokens: Token[] | null; links: Links } {
	const lexer = new BoundedLexer({ ...defaults, tokenizer: new BoundedTokenizer() });
	lexer.tokens.links = { ...links };
	try {
		const tokens = lexer.lex(source);
		return { tokens, links: tokens.links };
	} catch (error) {
		reportError(error);
		return { tokens: null, links };
	}
}

class BoundedLexer extends Lexer {
	override lex(source: string): TokensList {
		this.blockTokens(source, this.tokens);
		let workLeft = MAX_TOTAL_WORK;
		for (const { src, tokens } of this.inlineQueue) {
			const work = src.length * countMarks(src);
			const canLex = work <= MAX_PARAGRAPH_WORK && work <= workLeft;
			if (canLex) workLeft -= work;
			if (!canLex || !this.#tryInline(src, tokens)) {
				tokens.splice(0, tokens.length, { type: 'text', raw: src, text: src, escaped: false });
			}
		}
		this.inlineQueue = [];
		return this.tokens;
	}

	#tryInline(source: string, tokens: Token[]): boolean {
		this.state.inRawBlock = false;
		this.state.inLink = false;
		try {
			this.inlineTokens(source, tokens);
			return true;
		} catch (error) {
			reportError(error);
			return false;
		}
	}
}

function countMarks(source: string): number {
	return source.match(/[^\p{L}\p{N}\s,;]/gu)?.length ?? 0;
}

/** Recognizes no more nested marks at the maximum depth, so that they become text. */
class BoundedTokenizer extends Tokenizer {
	#blockDepth = 0;
	#inlineDepth = 0;

	override blockquote(source: string): Tokens.Blockquote | undefined {
		return this.#nestBlock(() => super.blockquote(source));
	}
	override list(source: string): Tokens.List | undefined {
		return this.#nestBlock(() => super.list(source));
	}
	override emStrong(...source: Parameters<Tokenizer['emStrong']>) {
		return this.#nestInline(() => super.emStrong(...source));
	}
	override del(...source: Parameters<Tokenizer['del']>) {
		return this.#nestInline(() => super.del(...source));
	}
	override link(source: string) {
		return this.#nestInline(() => super.link(source));
	}
	override reflink(...source: Parameters<Tokenizer['reflink']>) {
		return this.#nestInline(() => super.reflink(...source));
	}

	#nestBlock<T>(tokenize: () => T): T | undefined {
		if (this.#blockDepth >= MAX_DEPTH) return undefined;
		this.#blockDepth++;
		try {
			return tokenize();
		} finally {
			this.#blockDepth--;
		}
	}

	#nestInline<T>(tokenize: () => T): T | undefined {
		if (this.#inlineDepth >= MAX_DEPTH) return undefined;
		this.#inlineDepth++;
		try {
			return tokenize();
		} finally {
			this.#inlineDepth--;
		}
	}
}
