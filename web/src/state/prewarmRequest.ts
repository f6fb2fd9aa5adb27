/** Builds the prepare request for the message that is being written. */
import { ROOT, type SendBody, type SendBodyAttachment } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import { createId } from '$/state/ids';
import { getLeafId } from '$/state/messageTree';
import { buildSendBody, type SendOptions } from '$/state/sendBody';
import type { Workspace } from '$/state/workspace.svelte';

const LONG_CHARS = 2_000;
const FULL_SHARE = 0.6;

export interface PrewarmRequest {
	/** Empty if nothing is written yet. */
	text: string;
	attachments?: SendBodyAttachment[];
	conversationId: string | null;
	parent: string;
	ask: SendOptions;
	isTemporary?: boolean;
	/** Whether the server prefills the prompt. */
	isPrefilled: boolean;
	/** Whether the page shows the number of tokens. */
	isCounted: boolean;
}

/** Returns null if there is nothing to prepare. Called at every key. */
export function buildPrewarmRequest(
	workspace: Workspace,
	conversation: Conversation,
	isVisible: boolean
): PrewarmRequest | null {
	if (conversation.state !== 'open' || conversation.isAnswering || !isVisible) return null;
	// The person is asked before a secret leaves the page.
	if (conversation.hasSecret) return null;
	const { draft, id: conversationId, path } = conversation;
	const attachments = conversation.attached.items;
	const isPrefilled = workspace.preferences.isReadAhead;
	const parent = getLeafId(path) ?? ROOT;
	const isTemporary = conversationId === null && conversation.isTemporary;
	const common = { conversationId, parent, ask: workspace.sendOptions, isTemporary, isPrefilled };
	if (draft.trim() === '') {
		// After a turn in this page the prompt is still in the engine's KV cache.
		const isCold = isPrefilled && path.length > 0 && conversation.turn === null;
		return isCold ? { ...common, text: '', isCounted: false } : null;
	}
	const numChars = attachments.reduce((sum, { text }) => sum + text.length, draft.length);
	const isCounted = isContextNearlyFull(workspace, conversation) || numChars > LONG_CHARS;
	return isPrefilled || isCounted ? { ...common, text: draft, attachments, isCounted } : null;
}

/** Whether the conversation takes most of the model's context window. */
export function isContextNearlyFull(workspace: Workspace, conversation: Conversation): boolean {
	const numWindow = workspace.engine.activeModel?.num_window_tokens ?? 0;
	return numWindow > 0 && (conversation.numContextTokens ?? 0) > FULL_SHARE * numWindow;
}

export function buildPrewarmBody(request: PrewarmRequest): SendBody {
	const { text, isPrefilled } = request;
	const body = buildSendBody({ ...request, id: createId(), edits: null, isWaiting: false });
	const messages = text === '' ? [] : body.messages;
	return { ...body, messages, client_prepare_state: isPrefilled ? 'sent' : 'none' };
}
