// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Blocks, type Block } from '$/markdown/blocks';
import { toFragment } from '$/markdown/inline';

function renderInline(markdown: string, isFinished = true): HTMLElement {
	const place = document.createElement('div');
	const fill = (blocks: Block[]): void => {
		for (const block of blocks) {
			if (block.kind === 'text') place.append(toFragment(block.html));
			else if (block.kind === 'code') place.append(block.text);
			else if (block.kind === 'list') block.items.forEach(fill);
			else if (block.kind === 'quote') fill(block.blocks);
			else if (block.kind === 'table') {
				[block.head, ...block.rows].flat().forEach(({ html }) => place.append(toFragment(html)));
			}
		}
	};
	fill(new Blocks().read(markdown, isFinished));
	return place;
}

const listElements = (markdown: string): string[] =>
	[...renderInline(markdown).querySelectorAll('*')].map((element) => element.localName);

test('links open in a new tab without a referrer', () => {
	const link = renderInline('[x](https://example.org/a)').querySelector('a');
	expect(link?.href).toBe('https://example.org/a');
	expect(link?.target).toBe('_blank');
	expect(link?.rel).toBe('noopener noreferrer');
});

test.each([
	['[our bank](https://evil.example/bank)', 'our bankevil.example'],
	['[bank.example](https://bank.example@evil.example/)', 'bank.exampleevil.example'],
	['[apple](https://аpple.example)', 'applexn--pple-43d.example'],
	['[write](mailto:a@b.example)', 'writea@b.example'],
	['https://www.example.org/x', 'https://www.example.org/x'],
	['[example.org](https://example.org/)', 'example.org']
])('a link shows its host: %s', (markdown, text) => {
	expect(renderInline(markdown).textContent).toBe(text);
});

test.each([
	'[x](javascript:alert(1))',
	'[x](JaVaScRiPt:alert(1))',
	'[x](data:text/html,x)',
	'[x](vbscript:x)',
	'[x](/backend-api/me)',
	'[x](//example.org)',
	'[x](https://)',
	'<javascript:alert(1)>'
])('%s becomes plain text', (markdown) => {
	expect(listElements(markdown)).toEqual([]);
});

test.each(['![alt](https://example.org/x.png)', '![alt][i]\n\n[i]: https://example.org/x.png'])(
	'a remote image becomes a link and is not loaded: %s',
	(markdown) => {
		expect(listElements(markdown)).toEqual(['span', 'a', 'span']);
	}
);

const HOSTILE = [
	'<script>alert(1)</script>',
	'<img src=x onerror=alert(1)>',
	'<svg onload=alert(1)>',
	'<svg><a xlink:href=javascript:alert(1)><text>x</text></a></svg>',
	'<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
	'a <b onclick=alert(1)>b</b> c',
	'<iframe src="https://example.org"></iframe>',
	'<style>* { display: none }</style>',
	'<form action="https://example.org"><input></form>',
	'<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
	'[a](https://x.example/"onmouseover="alert(1))',
	'[a](https://x.example \'" onclick="alert(1)\')',
	'![x](https://x.example/"onerror="alert(1))',
	'`<img src=x onerror=alert(1)>`',
	'| <img src=x onerror=alert(1)> |\n|---|\n| <svg onload=alert(1)> |',
	'- <img src=x onerror=alert(1)>\n  > <svg onload=alert(1)>',
	'$\\href{javascript:alert(1)}{x}$ and $$\\includegraphics{https://x.example/a.png}$$',
	'[x](&#106;avascript:alert(1)) [y](java\tscript:alert(1)) [z](javascript&colon;alert(1))'
];
const TAGS = 'a b br code del em i kbd mark s span strong sub sup u'.toUpperCase().split(' ');
const ATTRIBUTES = ['href', 'title', 'target', 'rel', 'class'];

test.each(HOSTILE)('%s becomes only plain text and links, wherever it is cut', (hostile) => {
	for (let length = 1; length <= hostile.length; length++) {
		for (const isFinished of [false, true]) {
			for (const element of renderInline(hostile.slice(0, length), isFinished).querySelectorAll(
				'*'
			)) {
				expect(TAGS).toContain(element.tagName);
				for (const { name } of element.attributes) expect(ATTRIBUTES).toContain(name);
				const href = element.getAttribute('href') ?? 'https://';
				expect(href).toMatch(/^(https?:|mailto:)/);
			}
		}
	}
});

test('HTML beyond plain tags is shown as text', () => {
	expect(renderInline('<img src=x onerror=alert(1)>').textContent).toBe(
		'<img src=x onerror=alert(1)>'
	);
});

test('plain tags without attributes work', () => {
	expect(listElements('H<sub>2</sub>O<br>x')).toEqual(['sub', 'br']);
});

test('text in angle brackets is kept', () => {
	expect(renderInline('A Vec<String> here').textContent).toBe('A Vec<String> here');
});
