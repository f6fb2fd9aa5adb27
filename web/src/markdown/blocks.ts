/**
 * Markdown as a list of blocks, for a text that is still growing.
 *
 * Only the end of a growing text can change its meaning, so all blocks but the last two are
 * settled, and the work for each new word does not grow with the answer. Once the text is
 * finished it is read again as a whole, because a link may be defined after its use; blocks
 * that read the same as before are not made again.
 */
import { Lexer, type Token, type Tokens } from 'marked';
import { toHtml } from '$/markdown/html';

export type Block =
	{ kind: 'code'; text: string; language: string } | { kind: 'html'; html: string };

type Links = Lexer['tokens']['links'];

const STILL_MOVING = 2;

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
		const { tokens, links } = this.#lex(source.slice(this.#settledSource.length));
		if (Object.keys(links).length > 0) this.#made.clear();
		if (!isFinished) this.#settle(source, tokens.splice(0, tokens.length - STILL_MOVING));
		return [...this.#settled, ...tokens.flatMap((token) => this.#toBlocks(token))];
	}

	#lex(source: string): { tokens: Token[]; links: Links } {
		const lexer = new Lexer({ gfm: true });
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
		return this.#made.get(token.raw) ?? toBlocks(token);
	}

	#startOver(): void {
		this.#settled = [];
		this.#settledSource = '';
		this.#links = {};
	}
}

/** None for a token that shows nothing. */
function toBlocks(token: Token): Block[] {
	if (token.type === 'space' || token.type === 'def') return [];
	if (token.type !== 'code') return [{ kind: 'html', html: toHtml(token) }];
	const { text, lang } = token as Tokens.Code;
	return [{ kind: 'code', text, language: lang?.split(/\s/)[0] ?? '' }];
}
