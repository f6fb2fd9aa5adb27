/** What would be sent now, and what the server is asked to do with it before it is. */
import { ROOT, type SendBody } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import type { Desk } from '$/state/desk.svelte';
import { newId } from '$/state/id';
import { bodyOf } from '$/state/letter';
import { leafOf } from '$/state/tree';
import type { Preparation } from '$/state/warming.svelte';

const LONG_CHARS = 2_000;
const FULL_SHARE = 0.6;

/** Null where there is nothing to prepare. */
export function preparationOf(
	desk: Desk,
	conversation: Conversation,
	isVisible: boolean
): Preparation | null {
	if (conversation.state !== 'open' || conversation.isAnswering || !isVisible) return null;
	const text = conversation.draft;
	const { isReadAhead } = desk.preferences;
	if (text.trim() === '') {
		// An answer that was written before our eyes is still in the engine's memory.
		const isWorthIt = isReadAhead && conversation.path.length > 0 && conversation.turn === null;
		const body = { ...bodyFor(desk, conversation, ''), messages: [] };
		return isWorthIt ? { body, isReadAhead, isWeighed: false } : null;
	}
	const isWeighed = isFull(desk, conversation) || text.length > LONG_CHARS;
	if (!isReadAhead && !isWeighed) return null;
	return { body: bodyFor(desk, conversation, text), isReadAhead, isWeighed };
}

/** Whether so much of the model's window is taken that it matters. */
export function isFull(desk: Desk, conversation: Conversation): boolean {
	const numWindow = desk.engine.inUse?.num_window_tokens ?? 0;
	return numWindow > 0 && (conversation.numContextTokens ?? 0) > FULL_SHARE * numWindow;
}

function bodyFor({ ask }: Desk, conversation: Conversation, text: string): SendBody {
	return bodyOf({
		id: newId(),
		text,
		conversationId: conversation.id,
		parent: leafOf(conversation.path) ?? ROOT,
		edits: null,
		ask,
		isWaiting: false
	});
}
