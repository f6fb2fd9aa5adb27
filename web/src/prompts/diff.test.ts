import { expect, test } from 'vitest';
import { differences, type Piece } from '$/prompts/diff';

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

/** The same numbers for the same seed (mulberry32). */
function chance(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function someText(next: () => number): string {
	const length = Math.floor(next() * 60);
	return Array.from({ length }, () => WORDS[Math.floor(next() * WORDS.length)]).join('');
}

/** A text, and another that is either unlike it or it with a few changes. */
function pairOf(seed: number): [string, string] {
	const next = chance(seed);
	const before = someText(next);
	if (next() < 0.3) return [before, someText(next)];
	const cut = Math.floor(next() * before.length);
	return [before, before.slice(0, cut) + someText(next).slice(0, 9) + before.slice(cut + 4)];
}

const without = (pieces: Piece[], left: Piece['kind']) =>
	pieces.flatMap(({ kind, text }) => (kind === left ? [] : [text])).join('');

test('the pieces are the text before and the text after, whatever these are', () => {
	for (let seed = 0; seed < 2_000; seed += 1) {
		const [before, after] = pairOf(seed);
		const pieces = differences(before, after);
		expect(without(pieces, 'added'), `seed ${seed}`).toBe(before);
		expect(without(pieces, 'removed'), `seed ${seed}`).toBe(after);
	}
});

test('no piece is empty, and none is like the one before it', () => {
	for (let seed = 0; seed < 500; seed += 1) {
		const pieces = differences(...pairOf(seed));
		expect(pieces.every(({ text }) => text !== '')).toBe(true);
		for (const [index, { kind }] of pieces.entries())
			expect(pieces[index - 1]?.kind).not.toBe(kind);
	}
});

test('a text does not differ from itself', () => {
	for (let seed = 0; seed < 200; seed += 1) {
		const [text] = pairOf(seed);
		const same = text === '' ? [] : [{ kind: 'same', text }];
		expect(differences(text, text)).toEqual(same);
	}
});

test('a changed word is told as a word', () => {
	expect(differences('Answer clearly and briefly.', 'Answer clearly and at length.')).toEqual([
		{ kind: 'same', text: 'Answer clearly and ' },
		{ kind: 'removed', text: 'briefly' },
		{ kind: 'added', text: 'at length' },
		{ kind: 'same', text: '.' }
	]);
});

test('a line that was written anew is told as a whole', () => {
	const pieces = differences('One.\nYou name things.\n', 'One.\nBe a poet today!\n');
	expect(pieces).toEqual([
		{ kind: 'same', text: 'One.\n' },
		{ kind: 'removed', text: 'You name things.\n' },
		{ kind: 'added', text: 'Be a poet today!\n' }
	]);
});

test('the longest texts that are possible do not keep the page waiting', () => {
	const long = (word: string) => `${word}\n`.repeat(20_000 / (word.length + 1));
	const pieces = differences(long('a'), Array.from({ length: 4_000 }, (_, i) => `${i}\n`).join(''));
	expect(pieces.map(({ kind }) => kind)).toEqual(['removed', 'added']);
});
