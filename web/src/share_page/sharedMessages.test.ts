import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { joinAnswers } from '$/share_page/sharedMessages';

const message = (id: string, role: string, ...parts: string[]): Message => ({
	id,
	author: { role },
	create_time: 1,
	content: { content_type: 'text', parts },
	status: 'finished_successfully',
	metadata: {}
});

test('questions and answers keep their order', () => {
	const messages = joinAnswers([
		message('1', 'user', 'Hello?'),
		message('2', 'assistant', 'Hello.')
	]);

	expect(messages).toEqual([
		{ id: '1', author: 'person', text: 'Hello?' },
		{ id: '2', author: 'model', text: 'Hello.' }
	]);
});

test('a continued answer is joined, even if it was cut within a word', () => {
	const messages = joinAnswers([
		message('1', 'user', 'Count.'),
		message('2', 'assistant', 'one tw'),
		message('3', 'assistant', 'o three')
	]);

	expect(messages[1]?.text).toBe('one two three');
});

test('other roles are left out', () => {
	expect(joinAnswers([message('1', 'system', 'Be kind.'), message('2', 'tool', '{}')])).toEqual([]);
});
