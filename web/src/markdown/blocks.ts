/**
 * Parses growing Markdown into a tree of blocks.
 *
 * New text can change only the last two blocks, so all earlier ones are kept, and the work per token
 * does not grow with the answer. The finished text is parsed once more as a whole, because a link may
 * be defined after its use; blocks with the same source are reused.
 *
 * The work is bounded: the end of a very long text, and blocks that have too many parts, stay plain text.
 */
import type { MarkedToken, Token, Tokens, TokensList } from 'marked';
import { lexMarkdown, type Plain } from '$/markdown/boundedLexer';
import { closeMarkdown } from '$/markdown/closeMarkdown';
import { toHtml } from '$/markdown/inline';
import type { Maths } from '$/markdown/maths';

/** The source is shown instead of a block that cannot be drawn. */
export type Block = BlockContent & { source: string };

type BlockContent =
	| { kind: 'text'; tag: TextTag; html: string }
	| { kind: 'plain' }
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

type Links = TokensList['links'];

const NUM_UNSETTLED = 2;
/** The rest of a longer text is plain: some texts take time that grows with the square of their length. */
export const MAX_CHARS = 50_000;
/** Elements of a text, about: the browser draws as many in a second or two. */
export const MAX_PARTS = 20_000;
/** KaTeX takes milliseconds for each. */
const PARTS_PER_FORMULA = 25;
/** Its frame, its caption and its button. */
const PARTS_PER_CODE = 15;

export class Blocks {
	#settled: Block[] = [];
	#settledSource = '';
	#links: Links = {};
	/** Parsed blocks by their source; valid only while no link is defined. */
	#cache = new Map<string, Block[]>();

	/** Parses a text, usually one that extends the text of the last call. */
	read(text: string, isFinished: boolean): Block[] {
		const whole = text.replaceAll(/\r\n?/g, '\n');
		const source = whole.slice(0, MAX_CHARS);
		if (isFinished || !source.startsWith(this.#settledSource)) this.#reset();
		const rest = source.slice(this.#settledSource.length);
		// Closing the Markdown changes only the last block; settled blocks keep their source.
		const closed = isFinished || source !== whole ? rest : closeMarkdown(rest);
		const { tokens, links } = lexMarkdown(closed, this.#links);
		if (Object.keys(links).length > 0) this.#cache.clear();
		if (!isFinished) this.#settle(source, tokens.splice(0, tokens.length - NUM_UNSETTLED));
		const blocks = [...this.#settled, ...tokens.flatMap((token) => this.#toBlocks(token))];
		if (source !== whole) blocks.push({ kind: 'plain', source: whole.slice(MAX_CHARS) });
		return limitParts(blocks);
	}

	#settle(source: string, tokens: Token[]): void {
		for (const token of tokens as Tokens.Generic[]) {
			const blocks = this.#toBlocks(token);
			this.#settled.push(...blocks);
			this.#cache.set(token.raw, blocks);
			if (token.type === 'def') this.#links[token.tag] ??= token as Tokens.Def;
		}
		const length = tokens.reduce((sum, token) => sum + token.raw.length, 0);
		this.#settledSource = source.slice(0, this.#settledSource.length + length);
	}

	#toBlocks(token: Token): Block[] {
		return this.#cache.get(token.raw) ?? toBlocks(token as KnownToken);
	}

	#reset(): void {
		this.#settled = [];
		this.#settledSource = '';
		this.#links = {};
	}
}

/** Makes blocks plain that would exceed the maximum number of parts, and joins plain neighbours. */
function limitParts(blocks: Block[]): Block[] {
	let numLeft = MAX_PARTS;
	const limited: Block[] = [];
	for (const block of blocks) {
		const numParts = countParts(block);
		const isPlain = block.kind === 'plain' || numParts > numLeft;
		if (!isPlain) numLeft -= numParts;
		const last = limited.at(-1);
		if (isPlain && last?.kind === 'plain') {
			limited[limited.length - 1] = { kind: 'plain', source: last.source + block.source };
		} else {
			limited.push(isPlain ? { kind: 'plain', source: block.source } : block);
		}
	}
	return limited;
}

const numPartsOf = new WeakMap<Block, number>();

function countParts(block: Block): number {
	const known = numPartsOf.get(block);
	if (known !== undefined) return known;
	const count = 1 + countInside(block);
	numPartsOf.set(block, count);
	return count;
}

function countInside(block: Block): number {
	switch (block.kind) {
		case 'text':
			return countInline(block.html);
		case 'code':
			return PARTS_PER_CODE;
		case 'maths':
			return PARTS_PER_FORMULA;
		case 'list':
			return sum(block.items, (item) => 1 + sum(item, countParts));
		case 'quote':
			return sum(block.blocks, countParts);
		case 'table':
			return sum([block.head, ...block.rows], (row) =>
				sum(row, ({ html }) => 1 + countInline(html))
			);
		default:
			return 0;
	}
}

function countInline(html: string): number {
	const numElements = html.split('<').length - 1;
	const numFormulas = html.split('class="maths"').length - 1;
	return Math.ceil(numElements / 2) + PARTS_PER_FORMULA * numFormulas;
}

function sum<T>(values: T[], count: (value: T) => number): number {
	return values.reduce((total, value) => total + count(value), 0);
}

type KnownToken = MarkedToken | Maths | Plain;

/** Empty for a token that draws nothing. Plain if it cannot be rendered. */
function toBlocks(token: KnownToken, isTight = false): Block[] {
	try {
		return toContents(token, isTight).map((content) => ({ ...content, source: token.raw }));
	} catch (error) {
		reportError(error);
		return [{ kind: 'plain', source: token.raw }];
	}
}

function toContents(token: KnownToken, isTight: boolean): BlockContent[] {
	switch (token.type) {
		case 'code':
			return [{ kind: 'code', text: token.text, language: token.lang?.split(/\s/)[0] ?? '' }];
		case 'maths':
			return [{ kind: 'maths', tex: token.text }];
		case 'plain':
			return [{ kind: 'plain' }];
		case 'list':
			return [toList(token)];
		case 'blockquote':
			return [{ kind: 'quote', blocks: toChildBlocks(token.tokens) }];
		case 'table':
			return [{ kind: 'table', head: token.header.map(toCell), rows: toRows(token) }];
		case 'hr':
			return [{ kind: 'rule' }];
		case 'heading':
			return [{ kind: 'text', tag: toHeadingTag(token.depth), html: toHtml(token.tokens) }];
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

function toList({ ordered, start, items }: Tokens.List): BlockContent {
	return {
		kind: 'list',
		start: ordered ? Number(start) : null,
		items: items.map(({ tokens, loose }) => toChildBlocks(tokens, !loose))
	};
}

function toChildBlocks(tokens: Token[], isTight = false): Block[] {
	return tokens.flatMap((token) => toBlocks(token as KnownToken, isTight));
}

function toRows({ rows }: Tokens.Table): Cell[][] {
	return rows.map((row) => row.map(toCell));
}

function toCell({ tokens, align }: Tokens.TableCell): Cell {
	return { html: toHtml(tokens), align };
}

function toHeadingTag(depth: number): TextTag {
	return `h${depth}` as TextTag;
}
