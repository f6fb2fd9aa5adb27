import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { buildFileName, exportMarkdown } from '$/state/markdownExport';
import type { PathEntry } from '$/state/messageTree';
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
	const path = messages.map(({ id }): PathEntry => ({ id, ids: [id], alternatives: [id] }));
	return {
		title,
		path,
		redactions: [{ placeholder: '[CARD_7F3A]', kind: 'card' as const, value: '4556 7375' }],
		messageAt: ({ id }: PathEntry) => messages.find((one) => one.id === id) ?? null
	};
}

test('an export has the values that the model did not see', () => {
	const exported = conversation('Cards', [message('assistant', 'It is [CARD_7F3A].')]);
	expect(exportMarkdown(exported, en)).toContain('It is 4556 7375.');
});

test('an export has a heading for each message', () => {
	const exported = conversation('Sorting', [
		message('user', 'How?'),
		message('assistant', '# Quickly\n\n`sort()`')
	]);

	expect(exportMarkdown(exported, en)).toBe(
		'# Sorting\n\n## You\n\nHow?\n\n## Answer\n\n# Quickly\n\n`sort()`\n'
	);
	expect(exportMarkdown(exported, de)).toContain('## Du\n');
});

test('a conversation without a title is exported under its name in the list', () => {
	expect(exportMarkdown(conversation('', []), en)).toBe('# New chat\n');
	expect(buildFileName(conversation('', []), en)).toBe('New chat.md');
});

test.each([
	['a/b: "c"?', 'a b c.md'],
	['../../etc', '.. .. etc.md'],
	['dots...', 'dots.md'],
	['???', 'hitsend.md'],
	['x'.repeat(200), `${'x'.repeat(80)}.md`]
])('the file of a conversation titled %j is named %j', (title, name) => {
	expect(buildFileName(conversation(title, []), en)).toBe(name);
});
