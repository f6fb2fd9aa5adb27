/** What a person sends, and what the server is told of it. */
import type { Sampling } from '$/api/events.gen';
import { ROOT, type Message, type SendBody } from '$/api/wire';

/** What a message asks for: which model, and how it chooses its words. */
export interface Ask {
	model: string;
	sampling: Partial<Sampling>;
}

/** Sent under the same id however often it is tried, so that it is said once. */
export interface Letter {
	id: string;
	text: string;
	/** Null for one that begins a conversation. */
	conversationId: string | null;
	parent: string | null;
	/** The message it says differently, where it does. */
	edits: string | null;
	ask: Ask;
	/** It is said in a conversation that leaves nothing behind. */
	isTemporary?: boolean;
	/** It has found no server, and waits for one. */
	isWaiting: boolean;
}

/** The message as it will stand in the conversation. */
export function messageOf({ id, text, parent }: Letter): Message {
	return {
		id,
		author: { role: 'user' },
		create_time: Date.now() / 1000,
		content: { content_type: 'text', parts: [text] },
		status: 'finished_successfully',
		metadata: { parent_id: parent }
	};
}

export function bodyOf(letter: Letter): SendBody {
	const { id, content } = messageOf(letter);
	const beginsTemporary = letter.isTemporary === true && letter.conversationId === null;
	return {
		action: 'next',
		messages: [{ id, author: { role: 'user' }, content }],
		parent_message_id: letter.parent ?? ROOT,
		...common(letter.ask, letter.conversationId),
		...(beginsTemporary ? { history_and_training_disabled: true } : {})
	};
}

/** Asks for another answer to a message, or for the rest of one. */
export function bodyWithout(
	action: 'variant' | 'continue',
	parent: string,
	ask: Ask,
	conversationId: string | null
): SendBody {
	return { action, messages: [], parent_message_id: parent, ...common(ask, conversationId) };
}

function common({ model, sampling }: Ask, conversationId: string | null) {
	return {
		model,
		...(Object.keys(sampling).length === 0 ? {} : { sampling }),
		...(conversationId === null ? {} : { conversation_id: conversationId }),
		supported_encodings: ['v1'] as ['v1'],
		timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
		timezone_offset_min: new Date().getTimezoneOffset()
	};
}
