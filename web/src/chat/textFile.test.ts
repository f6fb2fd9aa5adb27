import { expect, test } from 'vitest';
import { appended, fenced, MAX_FILE_BYTES, readFile } from '$/chat/textFile';

test('a text file is read as it is, whatever it is called', async () => {
	const file = new File(['Grüße,\n\tWelt\n'], 'Makefile');
	expect(await readFile(file)).toEqual({
		kind: 'text',
		name: 'Makefile',
		text: 'Grüße,\n\tWelt\n'
	});
});

test('what is not UTF-8 text is told apart by its bytes', async () => {
	const picture = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0xff])], 'a.txt');
	const zeros = new File(['a\0b'], 'b.txt');
	expect((await readFile(picture)).kind).toBe('not text');
	expect((await readFile(zeros)).kind).toBe('not text');
});

test('a file that is too large is not even read', async () => {
	const file = new File(['a'.repeat(MAX_FILE_BYTES + 1)], 'long.md');
	expect(await readFile(file)).toEqual({ kind: 'too large', name: 'long.md' });
});

test('the words of a file stand in a fence with its name and language', () => {
	expect(fenced('fib.py', 'print(1)\n')).toBe('fib.py\n```py\nprint(1)\n```\n');
	expect(fenced('notes.txt', 'one')).toBe('notes.txt\n```\none\n```\n');
	expect(fenced('LICENSE', '')).toBe('LICENSE\n```\n```\n');
});

test('a fence in the text cannot end the fence around it', () => {
	expect(fenced('a.md', '````js\nx\n````')).toBe('a.md\n`````md\n````js\nx\n````\n`````\n');
});

test('a file goes below what was written before', () => {
	expect(appended('  ', 'block\n')).toBe('block\n');
	expect(appended('Explain this:\n\n', 'block\n')).toBe('Explain this:\n\nblock\n');
});
