import { createNumberFormats } from '$/words/numbers';
import type { TokensWords } from '$/words/tokens';

const { whole, oneDigit } = createNumberFormats('de');
const many = (count: number, one: string, several: string) =>
	`${whole(count)} ${count === 1 ? one : several}`;

export const tokens: TokensWords = {
	title: 'Aus Text werden Token',
	about:
		'Ein Modell liest und schreibt Token: Zahlen, die für Stücke von Text stehen. Schreib etwas, und sieh, welche. Nichts davon wird aufbewahrt.',
	back: 'Zurück zum Chat',
	text: 'Text',
	example: 'Hallo! Warum geht Brot auf? 🍞 Größe, 日本語, नमस्ते\n\tprint("2 + 2 =", 4)',
	model: 'Modell',
	compare: 'Vergleichen mit',
	nothing: 'Keinem anderen Modell',
	onlyOne: 'Es gibt hier nur ein Modell.',
	list: (model) => `Token von ${model}`,
	token: (text, id) => `${text}, Nummer ${id}`,
	id: (id) => `Nummer ${id}`,
	bytes: (hex) => `Bytes ${hex}`,
	more: (shown, count) => `Gezeigt werden die ersten ${whole(shown)} von ${whole(count)} Token.`,
	numTokens: (count) => `${whole(count)} Token`,
	numCharacters: (count) => `${whole(count)} Zeichen`,
	numBytes: (count) => many(count, 'Byte', 'Bytes'),
	perToken: (count) => `${oneDigit(count)} Zeichen je Token`
};
