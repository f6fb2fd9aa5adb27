import { expect, test } from 'vitest';
import { Reading } from '$/turn/reading';

const frame = (event: string | null, data: unknown) => ({
	event: event ?? 'message',
	data: JSON.stringify(data),
	seq: null
});

const added = (c: number, id: string, role: string, metadata: object) =>
	frame('delta', {
		c,
		p: '',
		o: 'add',
		v: {
			message: { id, author: { role }, content: { content_type: 'text', parts: [''] }, metadata },
			conversation_id: 'c1'
		}
	});

test('messages that are hidden are read, and are not among the messages', () => {
	const reading = new Reading(() => undefined);
	reading.take(frame('delta_encoding', 'v1'));
	reading.take(added(0, 's', 'system', { is_visually_hidden_from_conversation: true }));
	reading.take(added(1, 'q', 'user', {}));
	reading.take(added(2, 'a', 'assistant', {}));

	expect(reading.messages.map(({ id }) => id)).toEqual(['q', 'a']);
	expect(reading.conversationId).toBe('c1');
});
