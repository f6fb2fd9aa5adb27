import { expect, test } from 'vitest';
import { piecesOf } from '$/markdown/highlight';
import highlighter from '$/markdown/languages';

test('the pieces together are the code, letter for letter', () => {
	const code = 'def f(x: int) -> str:\n\treturn f"<b>{x}</b>"  # & so on\n';
	expect(
		piecesOf(highlighter, code, 'python')
			?.map(({ text }) => text)
			.join('')
	).toBe(code);
});

test('words are told apart by what they are', () => {
	const pieces = piecesOf(highlighter, 'const a = "b"; // c', 'ts') ?? [];
	const kinds = Object.fromEntries(pieces.map(({ text, kind }) => [text.trim(), kind]));
	expect(kinds).toMatchObject({ const: 'keyword', '"b"': 'string', '// c': 'comment' });
});

test('a language nobody knows stays plain', () => {
	expect(piecesOf(highlighter, 'x', 'klingon')).toBeNull();
});

test.each(['js', 'tsx', 'py', 'sh', 'html', 'yml', 'c++', 'rs', 'svelte'])(
	'%s is known',
	(name) => {
		expect(highlighter.getLanguage(name)).toBeDefined();
	}
);
