import { expect, test } from 'vitest';
import { markWords, splitMarks, trimBeforeMark } from '$/ui/searchMarks';

const bracketMatches = (marked: string) =>
	splitMarks(marked)
		.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text))
		.join('');

test('the marks of the server are kept, and no text is lost', () => {
	expect(bracketMatches('…the \u0002red\u0003 and the \u0002blue\u0003 one')).toBe(
		'…the [red] and the [blue] one'
	);
	expect(bracketMatches('plain')).toBe('plain');
});

test('an unclosed mark is plain text', () => {
	expect(bracketMatches('a \u0002b')).toBe('a b');
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
])('%j is shortened to its first mark', (marked, expected) => {
	expect(bracketMatches(trimBeforeMark(marked))).toBe(expected);
});

test.each([
	['Wine and winter', 'win', '[Win]e and [win]ter'],
	['Überall Zürich', 'zür üb', '[Üb]erall [Zür]ich'],
	['twine', 'wine', 'twine'],
	['C++ (and more)', '(and', 'C++ [(and] more)'],
	['<b>bold</b>', 'bold', '<b>[bold]</b>'],
	['anything', '  ', 'anything']
])('in %j a search for %j marks the starts of words', (text, query, expected) => {
	expect(bracketMatches(markWords(text, query))).toBe(expected);
});
