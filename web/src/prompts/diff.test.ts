import { expect, test } from 'vitest';
import { diffTexts, type Piece } from '$/prompts/diff';

const WORDS = [
	'the',
	'answer',
	'is',
	' ',
	' ',
	'\n',
	'brief',
	'.',
	'{{ slot }}',
	'🙂',
	'ß',
	'\ud800'
];

/** A seeded random number generator (mulberry32). */
function createRandom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function createText(next: () => number): string {
	const length = Math.floor(next() * 60);
	return Array.from({ length }, () => WORDS[Math.floor(next() * WORDS.length)]).join('');
}

/** A text, and either an unrelated one or the same with a few changes. */
function createPair(seed: number): [string, string] {
	const next = createRandom(seed);
	const before = createText(next);
	if (next() < 0.3) return [before, createText(next)];
	const cut = Math.floor(next() * before.length);
	return [before, before.slice(0, cut) + createText(next).slice(0, 9) + before.slice(cut + 4)];
}

const joinWithout = (pieces: Piece[], omitted: Piece['kind']) =>
	pieces.flatMap(({ kind, text }) => (kind === omitted ? [] : [text])).join('');

test('the pieces add up to the text before and the text after', () => {
	for (let seed = 0; seed < 2_000; seed += 1) {
		const [before, after] = createPair(seed);
		const pieces = diffTexts(before, after);
		expect(joinWithout(pieces, 'added'), `seed ${seed}`).toBe(before);
		expect(joinWithout(pieces, 'removed'), `seed ${seed}`).toBe(after);
	}
});

test('no piece is empty or of the same kind as the one before it', () => {
	for (let seed = 0; seed < 500; seed += 1) {
		const pieces = diffTexts(...createPair(seed));
		expect(pieces.every(({ text }) => text !== '')).toBe(true);
		for (const [index, { kind }] of pieces.entries())
			expect(pieces[index - 1]?.kind).not.toBe(kind);
	}
});

test('a text has no differences from itself', () => {
	for (let seed = 0; seed < 200; seed += 1) {
		const [text] = createPair(seed);
		const same = text === '' ? [] : [{ kind: 'same', text }];
		expect(diffTexts(text, text)).toEqual(same);
	}
});

test('a changed word is one piece', () => {
	expect(diffTexts('Answer clearly and briefly.', 'Answer clearly and at length.')).toEqual([
		{ kind: 'same', text: 'Answer clearly and ' },
		{ kind: 'removed', text: 'briefly' },
		{ kind: 'added', text: 'at length' },
		{ kind: 'same', text: '.' }
	]);
});

test('a rewritten line is shown as a whole', () => {
	const pieces = diffTexts('One.\nYou name things.\n', 'One.\nBe a poet today!\n');
	expect(pieces).toEqual([
		{ kind: 'same', text: 'One.\n' },
		{ kind: 'removed', text: 'You name things.\n' },
		{ kind: 'added', text: 'Be a poet today!\n' }
	]);
});

test('texts of the maximum length are compared without a full search', () => {
	const long = (word: string) => `${word}\n`.repeat(20_000 / (word.length + 1));
	const pieces = diffTexts(long('a'), Array.from({ length: 4_000 }, (_, i) => `${i}\n`).join(''));
	expect(pieces.map(({ kind }) => kind)).toEqual(['removed', 'added']);
});
