import { expect, test } from 'vitest';
import { mend } from '$/markdown/mend';

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
])('%j goes on as %j', (text, mended) => {
	expect(mend(text)).toBe(mended);
});

test.each(['Text\n-', 'Text\n--', 'Text\n=', 'Text\n``', 'Text\n$'])(
	'what %j will be cannot be told yet, and is held back',
	(text) => {
		expect(mend(text)).toBe('Text\n');
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
])('%j is left as it is', (text) => {
	expect(mend(text)).toBe(text);
});
