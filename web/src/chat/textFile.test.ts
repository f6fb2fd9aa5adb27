import { expect, test } from 'vitest';
import { appendBlock, fenceFile, MAX_FILE_BYTES, readFile } from '$/chat/textFile';

test('a text file is read whatever its name', async () => {
	const file = new File(['Grüße,\n\tWelt\n'], 'Makefile');
	expect(await readFile(file)).toEqual({
		kind: 'text',
		name: 'Makefile',
		text: 'Grüße,\n\tWelt\n'
	});
});

test('a file that is not UTF-8 text is recognised by its bytes', async () => {
	const picture = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff])], 'a.txt');
	const zeros = new File(['a\0b'], 'b.txt');
	expect((await readFile(picture)).kind).toBe('not text');
	expect((await readFile(zeros)).kind).toBe('not text');
});

test('a file that is too large is not even read', async () => {
	const file = new File(['a'.repeat(MAX_FILE_BYTES + 1)], 'long.md');
	expect(await readFile(file)).toEqual({ kind: 'too large', name: 'long.md' });
});

test('the text of a file is fenced with its name and language', () => {
	expect(fenceFile('fib.py', 'print(1)\n')).toBe('fib.py\n```py\nprint(1)\n```\n');
	expect(fenceFile('notes.txt', 'one')).toBe('notes.txt\n```\none\n```\n');
	expect(fenceFile('LICENSE', '')).toBe('LICENSE\n```\n```\n');
});

test('a fence in the text cannot close the fence around it', () => {
	expect(fenceFile('a.md', '````js\nx\n````')).toBe('a.md\n`````md\n````js\nx\n````\n`````\n');
});

test('a file is appended to the draft', () => {
	expect(appendBlock('  ', 'block\n')).toBe('block\n');
	expect(appendBlock('Explain this:\n\n', 'block\n')).toBe('Explain this:\n\nblock\n');
});
