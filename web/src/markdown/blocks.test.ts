// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Blocks, type Block } from '$/markdown/blocks';

const TEXT = `# Title

A paragraph with *emphasis*, \`code\` and a [link](https://example.org/a_(b)).
It goes on
over lines.

1. one
2. two
   - nested

\`\`\`python
def f():

    return 1
\`\`\`

| a | b |
|---|--:|
| 1 | 2 |

Setext
------

> quoted
> text

snake_case_name and 2 < 3 & 4 > 1

- [x] done
- [ ] open
`;

const parseWhole = (text: string): Block[] => new Blocks().read(text, true);

test('incremental parsing gives the same blocks as parsing the whole text', () => {
	const growing = new Blocks();
	for (let length = 1; length <= TEXT.length; length += 3) {
		const text = TEXT.slice(0, length);
		expect(growing.read(text, false)).toEqual(new Blocks().read(text, false));
	}
	expect(growing.read(TEXT, true)).toEqual(parseWhole(TEXT));
});

test('settled blocks are the same objects', () => {
	const growing = new Blocks();
	const [first] = growing.read(`${TEXT}\nlast`, false);

	expect(growing.read(`${TEXT}\nlast words`, false)[0]).toBe(first);
});

test('a link defined after its use works once the text is finished', () => {
	const text = `See [this].\n\n${'More.\n\n'.repeat(5)}[this]: https://example.org`;
	const growing = new Blocks();
	for (let length = 1; length <= text.length; length++) growing.read(text.slice(0, length), false);

	expect(growing.read(text, true)[0]).toMatchObject({
		html: expect.stringContaining('href="https://example.org/"') as string
	});
});

test('a link defined in a settled block works', () => {
	const text = `[this]: https://example.org\n\n${'More.\n\n'.repeat(5)}See [this].`;
	const growing = new Blocks();
	let blocks: Block[] = [];
	for (let length = 1; length <= text.length; length++) {
		blocks = growing.read(text.slice(0, length), false);
	}
	expect(blocks).toEqual(parseWhole(text));
});

test('a different text resets the parser', () => {
	const blocks = new Blocks();
	blocks.read(TEXT, false);

	expect(blocks.read('Other.', false)).toEqual(parseWhole('Other.'));
});

test('a code block has its text and language', () => {
	expect(parseWhole('```js run\n<b>&amp;\n```')).toMatchObject([
		{ kind: 'code', text: '<b>&amp;', language: 'js' }
	]);
});

test('code inside a list is a block of its own', () => {
	expect(parseWhole('1. Run:\n   ```sh\n   ls\n   ```')).toMatchObject([
		{
			kind: 'list',
			start: 1,
			items: [
				[
					{ kind: 'text', tag: 'span', html: 'Run:' },
					{ kind: 'code', text: 'ls', language: 'sh' }
				]
			]
		}
	]);
});

test('each new word parses only the end, however long the answer is', () => {
	const growing = new Blocks();
	const long = TEXT.repeat(30);
	const before = growing.read(`${long}\n\nlast`, false);
	const after = growing.read(`${long}\n\nlast words`, false);

	expect(after.filter((block, i) => block !== before[i]).length).toBeLessThanOrEqual(2);
});

test('finishing the answer reuses the shown blocks', () => {
	const growing = new Blocks();
	for (let length = 1; length <= TEXT.length; length += 5)
		growing.read(TEXT.slice(0, length), false);
	const before = growing.read(TEXT, false);
	const after = growing.read(TEXT, true);

	expect(after.length).toBe(before.length);
	expect(after.filter((block, i) => block !== before[i]).length).toBeLessThanOrEqual(2);
});
