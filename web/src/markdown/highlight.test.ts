import { expect, test } from 'vitest';
import { highlightCode } from '$/markdown/highlight';
import highlighter from '$/markdown/languages';

test('the pieces add up to the code', () => {
	const code = 'def f(x: int) -> str:\n\treturn f"<b>{x}</b>"  # & so on\n';
	expect(
		highlightCode(highlighter, code, 'python')
			?.map(({ text }) => text)
			.join('')
	).toBe(code);
});

test('pieces have the kind of their token', () => {
	const pieces = highlightCode(highlighter, 'const a = "b"; // c', 'ts') ?? [];
	const kinds = Object.fromEntries(pieces.map(({ text, kind }) => [text.trim(), kind]));
	expect(kinds).toMatchObject({ const: 'keyword', '"b"': 'string', '// c': 'comment' });
});

test('an unknown language is not highlighted', () => {
	expect(highlightCode(highlighter, 'x', 'klingon')).toBeNull();
});

test.each(['js', 'tsx', 'py', 'sh', 'html', 'yml', 'c++', 'rs', 'svelte'])(
	'%s is known',
	(name) => {
		expect(highlighter.getLanguage(name)).toBeDefined();
	}
);
