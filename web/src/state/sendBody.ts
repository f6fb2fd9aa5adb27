/** Builds the body of a Send. */
import type { Sampling } from '$/api/events.gen';
import { ROOT, type CallVerdict, type Message, type SendBody } from '$/api/wire';
import type { OutgoingMessage } from '$/state/outbox';

/** The model that answers, its sampling, and what it may use. */
export interface SendOptions {
	model: string;
	sampling: Partial<Sampling>;
	/** Absent: none, or those of the turn whose answer is asked for again or continued. */
	features?: string[];
}

/** The message as the conversation shows it before the server has accepted it. */
export function toMessage({ id, text, parent, attachments = [] }: OutgoingMessage): Message {
	const shown = attachments.map((one) => ({ ...one, kind: 'attachment' as const }));
	return {
		id,
		author: { role: 'user' },
		create_time: Date.now() / 1000,
		content: { content_type: 'text', parts: [text] },
		status: 'finished_successfully',
		metadata: { parent_id: parent, ...(shown.length > 0 ? { attachments: shown } : {}) }
	};
}

export function buildSendBody(outgoing: OutgoingMessage): SendBody {
	const { id, content } = toMessage(outgoing);
	const { attachments = [] } = outgoing;
	const attached = attachments.length > 0 ? { attachments } : {};
	const startsTemporary = outgoing.isTemporary === true && outgoing.conversationId === null;
	return {
		action: 'next',
		messages: [{ id, author: { role: 'user' }, content, ...attached }],
		parent_message_id: outgoing.parent ?? ROOT,
		...buildCommonFields(outgoing.ask, outgoing.conversationId),
		system_hints: outgoing.ask.features ?? [],
		...(startsTemporary ? { history_and_training_disabled: true } : {})
	};
}

/** Requests another answer to a message, or the continuation of an answer after `verdicts` on its calls. */
export function buildAnswerBody(
	action: 'variant' | 'continue',
	parent: string,
	options: SendOptions,
	conversationId: string | null,
	verdicts: CallVerdict[] = []
): SendBody {
	return {
		action,
		messages: [],
		parent_message_id: parent,
		...buildCommonFields(options, conversationId),
		...(options.features === undefined ? {} : { system_hints: options.features }),
		...(verdicts.length === 0 ? {} : { verdicts })
	};
}

function buildCommonFields({ model, sampling }: SendOptions, conversationId: string | null) {
	return {
		model,
		...(Object.keys(sampling).length === 0 ? {} : { sampling }),
		...(conversationId === null ? {} : { conversation_id: conversationId }),
		conversation_mode: { kind: 'primary_assistant' as const },
		supports_buffering: true,
		supported_encodings: ['v1'],
		timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
		timezone_offset_min: new Date().getTimezoneOffset()
	};
}
