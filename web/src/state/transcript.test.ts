import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { fileNameOf, markdownOf } from '$/state/transcript';
import type { Place } from '$/state/tree';
import { de } from '$/words/de';
import { en } from '$/words/en';

function message(role: Message['author']['role'], text: string): Message {
	return {
		id: text,
		author: { role },
		content: { content_type: 'text', parts: [text] },
		status: 'finished_successfully',
		create_time: 1,
		end_turn: true,
		metadata: {}
	} as unknown as Message;
}

function conversation(title: string, messages: Message[]) {
	const path = messages.map(({ id }): Place => ({ id, ids: [id], alternatives: [id] }));
	return { title, path, read: ({ id }: Place) => messages.find((one) => one.id === id) ?? null };
}

test('a conversation is a page with a heading for each message', () => {
	const said = conversation('Sorting', [
		message('user', 'How?'),
		message('assistant', '# Quickly\n\n`sort()`')
	]);

	expect(markdownOf(said, en)).toBe(
		'# Sorting\n\n## You\n\nHow?\n\n## Answer\n\n# Quickly\n\n`sort()`\n'
	);
	expect(markdownOf(said, de)).toContain('## Du\n');
});

test('one without a title has the name it has in the list', () => {
	expect(markdownOf(conversation('', []), en)).toBe('# New chat\n');
	expect(fileNameOf(conversation('', []), en)).toBe('New chat.md');
});

test.each([
	['a/b: "c"?', 'a b c.md'],
	['../../etc', '.. .. etc.md'],
	['dots...', 'dots.md'],
	['???', 'hitsend.md'],
	['x'.repeat(200), `${'x'.repeat(80)}.md`]
])('a file of %j is named %j', (title, name) => {
	expect(fileNameOf(conversation(title, []), en)).toBe(name);
});
