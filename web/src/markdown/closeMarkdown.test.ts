import { expect, test } from 'vitest';
import { closeMarkdown } from '$/markdown/closeMarkdown';

test.each([
	['some **bold wor', 'some **bold wor**'],
	['some **', 'some '],
	['some `cod', 'some `cod`'],
	['some `', 'some '],
	['some **bold `cod', 'some **bold `cod`**'],
	['`a*b` and **c', '`a*b` and **c**'],
	['see [the docs](https://exam', 'see the docs'],
	['So\n$$\na_{**', 'So\n```latex\na_{**'],
	['So\n\\[\na_{**', 'So\n```latex\na_{**'],
	['$$\na\n$$\n**b', '$$\na\n$$\n**b**'],
	['$$x^2$$\nand **more', '$$x^2$$\nand **more**'],
	['```\na\n```\n**b', '```\na\n```\n**b**'],
	['~~gone', '~~gone~~'],
	['| a | b |', '| a | b |\n| --- | --- |'],
	['| a | b |\n|---|---|\n| 1 | **2', '| a | b |\n|---|---|\n| 1 | **2** |']
])('%j is closed as %j', (text, closed) => {
	expect(closeMarkdown(text)).toBe(closed);
});

test.each(['Text\n-', 'Text\n--', 'Text\n=', 'Text\n``', 'Text\n$'])(
	'the ambiguous last line of %j is held back',
	(text) => {
		expect(closeMarkdown(text)).toBe('Text\n');
	}
);

test.each([
	'plain words',
	'snake_case_name',
	'2 * 3 * 4',
	'a * b',
	'```py\nx = a ** b',
	'~~~\n`',
	'- one\n- two'
])('%j is left unchanged', (text) => {
	expect(closeMarkdown(text)).toBe(text);
});
