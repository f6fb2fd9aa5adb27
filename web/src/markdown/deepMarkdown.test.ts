// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { Blocks, MAX_CHARS, type Block } from '$/markdown/blocks';
import { MAX_DEPTH } from '$/markdown/boundedLexer';
import { createDocument } from '$/markdown/fuzz/documents';
import * as inline from '$/markdown/inline';

const read = (text: string): Block[] => new Blocks().read(text, true);

function measureDepth(blocks: Block[]): number {
	const depths = blocks.map((block) => {
		if (block.kind === 'quote') return 1 + measureDepth(block.blocks);
		return block.kind === 'list' ? 1 + measureDepth(block.items.flat()) : 0;
	});
	return Math.max(0, ...depths);
}

test.each(['>', '> ', '- ', '1. ', '> - '])('%j 4,000 times nests to the limit', (mark) => {
	const blocks = read(`${mark.repeat(4_000)}a\n\nThe *end*.`);

	expect(measureDepth(blocks)).toBe(MAX_DEPTH);
	expect(blocks.at(-1)).toMatchObject({ html: 'The <em>end</em>.' });
});

test('quotes with a lazy last line nest to the limit', () => {
	expect(measureDepth(read(`${'>'.repeat(500)} a\nb`))).toBe(MAX_DEPTH);
});

test.each([
	['**a ', ' b**', 'strong'],
	['*a ', ' b*', 'em'],
	['~~a ', ' b~~', 'del']
])('%j nests to the limit', (open, close, tag) => {
	const [block] = read(open.repeat(200) + close.repeat(200));
	const html = block?.kind === 'text' ? block.html : '';

	expect(html.split(`<${tag}>`).length - 1).toBeLessThanOrEqual(MAX_DEPTH);
	expect(html).toContain(`<${tag}>`);
});

test('a paragraph with too many marks is text', () => {
	const marks = '_a_'.repeat(16_000);

	expect(read(marks)).toMatchObject([{ kind: 'text', html: marks }]);
});

test('the rest of a very long text is plain', () => {
	const blocks = read('word '.repeat(MAX_CHARS / 5) + 'more');

	expect(blocks.at(-1)).toEqual({ kind: 'plain', source: 'more' });
});

test('a text with too many blocks ends in one plain block', () => {
	const blocks = read('- a\n\n---\n\n'.repeat(10_000));

	expect(blocks.filter(({ kind }) => kind === 'plain')).toHaveLength(1);
});

test('only the block that fails is plain', () => {
	vi.stubGlobal('reportError', vi.fn());
	const { toHtml } = inline;
	const failing = vi.spyOn(inline, 'toHtml').mockImplementation((tokens) => {
		if (tokens.some(({ raw }) => raw.includes('bad'))) throw new RangeError('too deep');
		return toHtml(tokens);
	});
	const kinds = read('good\n\nbad\n\ngood').map(({ kind }) => kind);
	failing.mockRestore();

	expect(kinds).toEqual(['text', 'plain', 'text']);
	expect(reportError).toHaveBeenCalledOnce();
	vi.unstubAllGlobals();
});

test('generated documents are read at every split', () => {
	for (let number = 0; number < 300; number++) {
		const text = createDocument(1, number).slice(0, 150);
		const blocks = new Blocks();
		for (let end = 1; end <= text.length; end++) blocks.read(text.slice(0, end), false);
		expect(measureDepth(blocks.read(text, true))).toBeLessThanOrEqual(MAX_DEPTH);
	}
});
