/** What would be sent now, and what the server is asked to do with it before it is. */
import { ROOT, type SendBody } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import type { Desk } from '$/state/desk.svelte';
import { newId } from '$/state/id';
import { bodyOf, type Ask } from '$/state/letter';
import { leafOf } from '$/state/tree';

const LONG_CHARS = 2_000;
const FULL_SHARE = 0.6;

export interface Preparation {
	/** Empty where nothing is written yet. */
	text: string;
	conversationId: string | null;
	parent: string;
	ask: Ask;
	isTemporary?: boolean;
	isReadAhead: boolean;
	isWeighed: boolean;
}

/** Null where there is nothing to prepare. Asked at every key. */
export function preparationOf(
	desk: Desk,
	conversation: Conversation,
	isVisible: boolean
): Preparation | null {
	if (conversation.state !== 'open' || conversation.isAnswering || !isVisible) return null;
	const { draft, id: conversationId, path } = conversation;
	const { isReadAhead } = desk.preferences;
	const parent = leafOf(path) ?? ROOT;
	const isTemporary = conversationId === null && conversation.isTemporary;
	const common = { conversationId, parent, ask: desk.ask, isTemporary, isReadAhead };
	if (draft.trim() === '') {
		// An answer that was written before our eyes is still in the engine's memory.
		const isWorthIt = isReadAhead && path.length > 0 && conversation.turn === null;
		return isWorthIt ? { ...common, text: '', isWeighed: false } : null;
	}
	const isWeighed = isFull(desk, conversation) || draft.length > LONG_CHARS;
	return isReadAhead || isWeighed ? { ...common, text: draft, isWeighed } : null;
}

/** Whether so much of the model's window is taken that it matters. */
export function isFull(desk: Desk, conversation: Conversation): boolean {
	const numWindow = desk.engine.inUse?.num_window_tokens ?? 0;
	return numWindow > 0 && (conversation.numContextTokens ?? 0) > FULL_SHARE * numWindow;
}

/** What the server is told of it. */
export function toldOf(preparation: Preparation): SendBody {
	const { text, isReadAhead } = preparation;
	const body = bodyOf({ ...preparation, id: newId(), edits: null, isWaiting: false });
	const messages = text === '' ? [] : body.messages;
	return { ...body, messages, client_prepare_state: isReadAhead ? 'sent' : 'none' };
}
