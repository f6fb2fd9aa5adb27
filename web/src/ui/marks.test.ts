import { expect, test } from 'vitest';
import { closeUp, markWords, piecesOf } from '$/ui/marks';

const shown = (marked: string) =>
	piecesOf(marked)
		.map(({ text, isFound }) => (isFound ? `[${text}]` : text))
		.join('');

test('what the server marked is marked, and nothing is lost', () => {
	expect(shown('…the \u0002red\u0003 and the \u0002blue\u0003 one')).toBe(
		'…the [red] and the [blue] one'
	);
	expect(shown('plain')).toBe('plain');
});

test('a mark that is never closed is only text', () => {
	expect(shown('a \u0002b')).toBe('a b');
});

test.each([
	[
		'The area of a circle grows with its \u0002radius\u0003 squared',
		'…circle grows with its [radius] squared'
	],
	['its \u0002radius\u0003, and its \u0002radius\u0003', 'its [radius], and its [radius]'],
	[`${'x'.repeat(90)}\u0002y\u0003`, '…[y]'],
	[
		'no mark in all of these many words, which are many',
		'no mark in all of these many words, which are many'
	]
])('in a narrow place %j begins close to its first mark', (marked, expected) => {
	expect(shown(closeUp(marked))).toBe(expected);
});

test.each([
	['Wine and winter', 'win', '[Win]e and [win]ter'],
	['Überall Zürich', 'zür üb', '[Üb]erall [Zür]ich'],
	['twine', 'wine', 'twine'],
	['C++ (and more)', '(and', 'C++ [(and] more)'],
	['<b>bold</b>', 'bold', '<b>[bold]</b>'],
	['anything', '  ', 'anything']
])('in %j a search for %j marks where words begin', (text, query, expected) => {
	expect(shown(markWords(text, query))).toBe(expected);
});
