import { expect, test } from 'vitest';
import type { Tokenized } from '$/api/wire';
import { bytesOf, charactersPerToken, piecesOf, visible } from '$/tokens/pieces';

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

test('blanks can be seen, and lines still break', () => {
	expect(visible('a b\n\tc')).toBe('a·b↵\n→\tc');
});

test('a token that is no whole character is drawn as its bytes', () => {
	expect(piecesOf(BROKEN)).toEqual([
		{ id: 7, text: 'a·', isWhole: true },
		{ id: 8, text: 'F0 9F', isWhole: false },
		{ id: 9, text: '98 80', isWhole: false }
	]);
});

test('every token tells its bytes', () => {
	expect([0, 1].map((i) => bytesOf(BROKEN, i))).toEqual(['61 20', 'F0 9F']);
	expect(bytesOf({ ...BROKEN, pieces: ['é'] }, 0)).toBe('C3 A9');
});

test('no more are drawn than a page can bear', () => {
	expect(piecesOf(BROKEN, 2)).toHaveLength(2);
});

test('no tokens have no length', () => {
	expect(charactersPerToken(BROKEN)).toBe(1);
	expect(charactersPerToken({ ...BROKEN, num_tokens: 0 })).toBe(0);
});
