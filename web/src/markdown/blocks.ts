/**
 * Markdown as a tree of blocks, for a text that is still growing.
 *
 * Only the end of a growing text can change its meaning, so all blocks but the last two are
 * settled, and the work for each new word does not grow with the answer. Once the text is
 * finished it is read again as a whole, because a link may be defined after its use; blocks
 * that read the same as before are not made again.
 */
import { Lexer, Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { toHtml } from '$/markdown/inline';
import { MATHS, type Maths } from '$/markdown/maths';
import { mend } from '$/markdown/mend';

export type Block =
	| { kind: 'text'; tag: TextTag; html: string }
	| { kind: 'code'; text: string; language: string }
	| { kind: 'maths'; tex: string }
	| { kind: 'list'; start: number | null; items: Block[][] }
	| { kind: 'quote'; blocks: Block[] }
	| { kind: 'table'; head: Cell[]; rows: Cell[][] }
	| { kind: 'rule' };

export type TextTag = 'p' | 'span' | 'h1' | 'h2' | 'h3' | 'h4' | 'h5' | 'h6';

export interface Cell {
	html: string;
	align: 'center' | 'left' | 'right' | null;
}

type Links = Lexer['tokens']['links'];

const STILL_MOVING = 2;
const { defaults } = new Marked({ gfm: true }, { extensions: MATHS });

export class Blocks {
	#settled: Block[] = [];
	#settledSource = '';
	#links: Links = {};
	/** What a piece of source was made into, when no link was defined anywhere. */
	#made = new Map<string, Block[]>();

	/** The blocks of a text which begins with the text of the call before. */
	read(text: string, isFinished: boolean): Block[] {
		const source = text.replaceAll(/\r\n?/g, '\n');
		if (isFinished || !source.startsWith(this.#settledSource)) this.#startOver();
		const rest = source.slice(this.#settledSource.length);
		// Mending changes the last block alone: what is settled reads as it was written.
		const { tokens, links } = this.#lex(isFinished ? rest : mend(rest));
		if (Object.keys(links).length > 0) this.#made.clear();
		if (!isFinished) this.#settle(source, tokens.splice(0, tokens.length - STILL_MOVING));
		return [...this.#settled, ...tokens.flatMap((token) => this.#toBlocks(token))];
	}

	#lex(source: string): { tokens: Token[]; links: Links } {
		const lexer = new Lexer(defaults);
		lexer.tokens.links = { ...this.#links };
		const tokens = lexer.lex(source);
		return { tokens, links: tokens.links };
	}

	#settle(source: string, tokens: Token[]): void {
		for (const token of tokens as Tokens.Generic[]) {
			const blocks = this.#toBlocks(token);
			this.#settled.push(...blocks);
			this.#made.set(token.raw, blocks);
			if (token.type === 'def') this.#links[token.tag] ??= token as Tokens.Def;
		}
		const length = tokens.reduce((sum, token) => sum + token.raw.length, 0);
		this.#settledSource = source.slice(0, this.#settledSource.length + length);
	}

	#toBlocks(token: Token): Block[] {
		return this.#made.get(token.raw) ?? toBlocks(token as Known);
	}

	#startOver(): void {
		this.#settled = [];
		this.#settledSource = '';
		this.#links = {};
	}
}

type Known = MarkedToken | Maths;

/** None for a token that shows nothing. */
function toBlocks(token: Known, isTight = false): Block[] {
	switch (token.type) {
		case 'code':
			return [{ kind: 'code', text: token.text, language: token.lang?.split(/\s/)[0] ?? '' }];
		case 'maths':
			return [{ kind: 'maths', tex: token.text }];
		case 'list':
			return [toList(token)];
		case 'blockquote':
			return [{ kind: 'quote', blocks: below(token.tokens) }];
		case 'table':
			return [{ kind: 'table', head: token.header.map(toCell), rows: toRows(token) }];
		case 'hr':
			return [{ kind: 'rule' }];
		case 'heading':
			return [{ kind: 'text', tag: headingTag(token.depth), html: toHtml(token.tokens) }];
		case 'html':
			return [{ kind: 'text', tag: 'p', html: toHtml([token]) }];
		case 'space':
		case 'def':
			return [];
		case 'paragraph':
		case 'text':
			return [{ kind: 'text', tag: isTight ? 'span' : 'p', html: toHtml(token.tokens ?? [token]) }];
		default:
			return [{ kind: 'text', tag: 'span', html: toHtml([token]) }];
	}
}

function toList({ ordered, start, items }: Tokens.List): Block {
	return {
		kind: 'list',
		start: ordered ? Number(start) : null,
		items: items.map(({ tokens, loose }) => below(tokens, !loose))
	};
}

function below(tokens: Token[], isTight = false): Block[] {
	return tokens.flatMap((token) => toBlocks(token as Known, isTight));
}

function toRows({ rows }: Tokens.Table): Cell[][] {
	return rows.map((row) => row.map(toCell));
}

function toCell({ tokens, align }: Tokens.TableCell): Cell {
	return { html: toHtml(tokens), align };
}

function headingTag(depth: number): TextTag {
	return `h${depth}` as TextTag;
}
