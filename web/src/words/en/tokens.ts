import { createNumberFormats } from '$/words/numbers';

const { whole, oneDigit } = createNumberFormats('en');
const many = (count: number, one: string, several: string) =>
	`${whole(count)} ${count === 1 ? one : several}`;

/** The tokenizer page. */
export const tokens = {
	title: 'Text becomes tokens',
	about:
		'A model reads and writes tokens: numbers that stand for pieces of text. Type, and see which. Nothing you write here is kept.',
	back: 'Back to the chat',
	text: 'Text',
	example: 'Hello! Why does bread rise? 🍞 Größe, 日本語, नमस्ते\n\tprint("2 + 2 =", 4)',
	model: 'Model',
	compare: 'Compare with',
	nothing: 'No other model',
	onlyOne: 'There is only one model here.',
	list: (model: string) => `Tokens of ${model}`,
	token: (text: string, id: number) => `${text}, id ${id}`,
	id: (id: number) => `id ${id}`,
	bytes: (hex: string) => `bytes ${hex}`,
	more: (shown: number, count: number) =>
		`The first ${whole(shown)} of ${whole(count)} tokens are shown.`,
	numTokens: (count: number) => many(count, 'token', 'tokens'),
	numCharacters: (count: number) => many(count, 'character', 'characters'),
	numBytes: (count: number) => many(count, 'byte', 'bytes'),
	perToken: (count: number) => `${oneDigit(count)} characters per token`
};
