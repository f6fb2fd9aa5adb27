// @vitest-environment jsdom
import { Lexer } from 'marked';
import { expect, test } from 'vitest';
import { toHtml } from '$/markdown/html';

const html = (markdown: string): string =>
	new Lexer({ gfm: true })
		.lex(markdown)
		.map((token) => toHtml(token))
		.join('');

function elements(markdown: string): string[] {
	const template = document.createElement('template');
	template.innerHTML = html(markdown);
	return [...template.content.querySelectorAll('*')].map((element) => element.localName);
}

test('links open beside us, and tell the other side nothing', () => {
	expect(html('[x](https://example.org)')).toContain(
		'<a target="_blank" rel="noopener noreferrer" href="https://example.org">x</a>'
	);
});

test.each([
	'[x](javascript:alert(1))',
	'[x](JaVaScRiPt:alert(1))',
	'[x](data:text/html,x)',
	'[x](vbscript:x)',
	'[x](/backend-api/me)',
	'[x](//example.org)',
	'<javascript:alert(1)>'
])('%s is only its words', (markdown) => {
	expect(elements(markdown)).toEqual(['p']);
});

test.each(['![alt](https://example.org/x.png)', '![alt][i]\n\n[i]: https://example.org/x.png'])(
	'a remote image is a link that nobody follows by itself: %s',
	(markdown) => {
		expect(elements(markdown)).toEqual(['p', 'a']);
		expect(html(markdown)).toContain('Image: alt');
	}
);

test.each([
	'<script>alert(1)</script>',
	'<img src=x onerror=alert(1)>',
	'<svg onload=alert(1)>',
	'a <b onclick=alert(1)>b</b> c',
	'<iframe src="https://example.org"></iframe>',
	'<style>* { display: none }</style>',
	'<form action="https://example.org"><input></form>'
])('HTML with more than plain tags is shown, not obeyed: %s', (markdown) => {
	expect(elements(markdown).every((name) => name === 'p' || name === 'b')).toBe(true);
	expect(html(markdown)).toContain('&lt;');
});

test('plain tags without attributes work', () => {
	expect(elements('H<sub>2</sub>O<br>x')).toEqual(['p', 'sub', 'br']);
});

test('words in angle brackets are not lost', () => {
	expect(html('A Vec<String> here')).toContain('Vec&lt;String&gt;');
});
