import { expect, test } from 'vitest';
import { markWords, piecesOf } from '$/ui/marks';

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
	['Wine and winter', 'win', '[Win]e and [win]ter'],
	['Überall Zürich', 'zür üb', '[Üb]erall [Zür]ich'],
	['twine', 'wine', 'twine'],
	['C++ (and more)', '(and', 'C++ [(and] more)'],
	['<b>bold</b>', 'bold', '<b>[bold]</b>'],
	['anything', '  ', 'anything']
])('in %j a search for %j marks where words begin', (text, query, expected) => {
	expect(shown(markWords(text, query))).toBe(expected);
});
