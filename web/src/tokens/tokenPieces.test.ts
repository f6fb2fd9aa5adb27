import { expect, test } from 'vitest';
import type { Tokenized } from '$/api/wire';
import {
	toHexBytes,
	computeCharactersPerToken,
	buildPieces,
	showWhitespace
} from '$/tokens/tokenPieces';

const BROKEN: Tokenized = {
	model: 'm',
	num_tokens: 3,
	num_characters: 3,
	num_bytes: 5,
	ids: [7, 8, 9],
	pieces: ['a ', null, null],
	bytes: [null, '8J8=', 'mIA='],
	spans: []
};

test('whitespace is made visible, and line breaks are kept', () => {
	expect(showWhitespace('a b\n\tc')).toBe('a·b↵\n→\tc');
});

test('an incomplete character is drawn as its bytes', () => {
	expect(buildPieces(BROKEN)).toEqual([
		{ id: 7, text: 'a·', isWhole: true },
		{ id: 8, text: 'F0 9F', isWhole: false },
		{ id: 9, text: '98 80', isWhole: false }
	]);
});

test('every token has its bytes in hexadecimal', () => {
	expect([0, 1].map((i) => toHexBytes(BROKEN, i))).toEqual(['61 20', 'F0 9F']);
	expect(toHexBytes({ ...BROKEN, pieces: ['é'] }, 0)).toBe('C3 A9');
});

test('the number of pieces is limited', () => {
	expect(buildPieces(BROKEN, 2)).toHaveLength(2);
});

test('an empty text has no characters per token', () => {
	expect(computeCharactersPerToken(BROKEN)).toBe(1);
	expect(computeCharactersPerToken({ ...BROKEN, num_tokens: 0 })).toBe(0);
});
