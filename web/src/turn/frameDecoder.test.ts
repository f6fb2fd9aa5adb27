import { expect, test } from 'vitest';
import { FrameDecoder } from '$/turn/frameDecoder';

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

test('hidden messages are decoded but not listed', () => {
	const decoder = new FrameDecoder(() => undefined);
	decoder.decode(frame('delta_encoding', 'v1'));
	decoder.decode(added(0, 's', 'system', { is_visually_hidden_from_conversation: true }));
	decoder.decode(added(1, 'q', 'user', {}));
	decoder.decode(added(2, 'a', 'assistant', {}));

	expect(decoder.messages.map(({ id }) => id)).toEqual(['q', 'a']);
	expect(decoder.conversationId).toBe('c1');
});
