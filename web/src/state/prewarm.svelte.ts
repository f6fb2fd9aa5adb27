/**
 * Prewarms the engine before Send: while a person writes, the server prefills the prompt and counts
 * its tokens. The server stores nothing of it.
 */
import type { Api } from '$/api/client';
import { ApiError, toFailure } from '$/api/http';
import type { PrewarmReply, PromptSize, SendBody } from '$/api/wire';
import { buildPrewarmBody, type PrewarmRequest } from '$/state/prewarmRequest';

const DEBOUNCE_MS = 350;
/** Fewer new characters are not worth a prefill. */
const MIN_NEW_CHARS = 8;
const TOKEN_MS = 60_000;

export class Prewarm {
	/** As of the last counted request. Null if none was counted. */
	promptSize = $state.raw<PromptSize | 'too long' | null>(null);

	#prepare: Api['prepare'];
	#timer: ReturnType<typeof setTimeout> | undefined;
	#pending: AbortController | null = null;
	/** The last request that the server got. */
	#last: PrewarmRequest | null = null;
	#conduit: { token: string; conversationId: string | null; expiresAt: number } | null = null;

	constructor({ prepare }: Pick<Api, 'prepare'>) {
		this.#prepare = prepare;
	}

	/** Call whenever the next Send has changed. Null cancels. */
	update(request: PrewarmRequest | null): void {
		clearTimeout(this.#timer);
		if (request?.isCounted !== true || !this.#hasSamePrefix(request)) this.promptSize = null;
		if (request === null) return this.cancel();
		if (!this.#isDue(request)) return;
		this.#timer = setTimeout(() => void this.#send(request), DEBOUNCE_MS);
	}

	/** The server drops a request that is aborted, so it counts as not sent. */
	cancel(): void {
		clearTimeout(this.#timer);
		if (this.#pending === null) return;
		this.#pending.abort();
		this.#pending = null;
		this.#last = null;
	}

	/** The headers of a Send. The server ignores a token that is too old or for another prompt. */
	headersFor(body: SendBody): Record<string, string> {
		const conduit = this.#conduit;
		const isHere = conduit?.conversationId === (body.conversation_id ?? null);
		const isValid = isHere && Date.now() < conduit.expiresAt;
		return isValid ? { 'x-conduit-token': conduit.token } : {};
	}

	/** Call after a Send, which uses the prewarmed prompt up. */
	forget({ conversation_id }: SendBody): void {
		const id = conversation_id ?? null;
		if (this.#last?.conversationId === id) this.#last = null;
		if (this.#conduit?.conversationId === id) this.#conduit = null;
	}

	#isDue(request: PrewarmRequest): boolean {
		const { text, isPrefilled, isCounted } = request;
		if (!this.#hasSamePrefix(request)) {
			return isCounted || (isPrefilled && (text === '' || text.length >= MIN_NEW_CHARS));
		}
		const lastText = this.#last?.text ?? '';
		if (isCounted) return text !== lastText || this.promptSize === null;
		return isPrefilled && countNewChars(text, lastText) >= MIN_NEW_CHARS;
	}

	/** Whether the last request was for the same model and tools after the same message,
	 * with the same attachments. */
	#hasSamePrefix({ conversationId, parent, ask, attachments }: PrewarmRequest): boolean {
		const last = this.#last;
		const isSame = last?.conversationId === conversationId && last.parent === parent;
		const haveSameTools = last?.ask.features?.join(' ') === ask.features?.join(' ');
		const haveSameTexts = listPlaces(last?.attachments) === listPlaces(attachments);
		return isSame && last.ask.model === ask.model && haveSameTools && haveSameTexts;
	}

	async #send(request: PrewarmRequest): Promise<void> {
		this.cancel();
		const { conversationId, isCounted } = request;
		const pending = new AbortController();
		this.#pending = pending;
		this.#last = request;
		try {
			const reply = await this.#prepare(buildPrewarmBody(request), pending.signal);
			if (pending.signal.aborted) return;
			this.#pending = null;
			this.#storeToken(reply, conversationId);
			if (isCounted) this.promptSize = readPromptSize(reply);
		} catch (error) {
			if (pending.signal.aborted) return;
			this.#pending = null;
			const { code } = toFailure(error);
			if (isCounted) this.promptSize = code === 'context_length_exceeded' ? 'too long' : null;
			// An unreachable server did not get it, so the next key sends it again.
			if (!(error instanceof ApiError)) this.#last = null;
		}
	}

	#storeToken({ conduit_token: token }: PrewarmReply, conversationId: string | null): void {
		if (token === null) return;
		this.#conduit = { token, conversationId, expiresAt: Date.now() + TOKEN_MS };
	}
}

function listPlaces(attachments: PrewarmRequest['attachments'] = []): string {
	return attachments.map(({ server, uri }) => `${server} ${uri}`).join('\n');
}

/** How many characters follow the common prefix of the two texts. */
function countNewChars(text: string, before: string): number {
	let numSame = 0;
	while (numSame < text.length && text[numSame] === before[numSame]) numSame++;
	return text.length - numSame;
}

function readPromptSize(reply: PrewarmReply): PromptSize | null {
	const { num_tokens, num_window_tokens, num_dropped_messages, is_exact } = reply;
	if (num_tokens === null || num_window_tokens === null) return null;
	return {
		num_tokens,
		num_window_tokens,
		num_dropped_messages: num_dropped_messages ?? 0,
		is_exact: is_exact ?? false
	};
}
