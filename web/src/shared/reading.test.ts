import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { reading } from '$/shared/reading';

const message = (id: string, role: string, ...parts: string[]): Message => ({
	id,
	author: { role },
	create_time: 1,
	content: { content_type: 'text', parts },
	status: 'finished_successfully',
	metadata: {}
});

test('questions and answers are read in their order', () => {
	const said = reading([message('1', 'user', 'Hello?'), message('2', 'assistant', 'Hello.')]);

	expect(said).toEqual([
		{ id: '1', who: 'person', text: 'Hello?' },
		{ id: '2', who: 'model', text: 'Hello.' }
	]);
});

test('an answer that was continued reads as one, also when it was cut within a word', () => {
	const said = reading([
		message('1', 'user', 'Count.'),
		message('2', 'assistant', 'one tw'),
		message('3', 'assistant', 'o three')
	]);

	expect(said[1]?.text).toBe('one two three');
});

test('what is neither a question nor an answer is not read', () => {
	expect(reading([message('1', 'system', 'Be kind.'), message('2', 'tool', '{}')])).toEqual([]);
});
