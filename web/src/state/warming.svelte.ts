/**
 * What happens before Send: while somebody writes, the server reads ahead what the model will have
 * to read, and says what the message would weigh. Nothing of it is kept there.
 */
import { ApiError, failureOf, type Api } from '$/api/client';
import type { Prepared, SendBody, Weight } from '$/api/wire';
import { toldOf, type Preparation } from '$/state/preparation';

/** The writing rests for so long before the server hears of it. */
const REST_MS = 350;
/** So much has to be new before it is worth reading. */
const MIN_NEW_CHARS = 8;
const TOKEN_MS = 60_000;

export class Warming {
	/** Of what was written when the server was last asked; null where nobody asked or could tell. */
	weight = $state.raw<Weight | 'too long' | null>(null);

	#prepare: Api['prepare'];
	#timer: ReturnType<typeof setTimeout> | undefined;
	#asking: AbortController | null = null;
	/** What the server was told last. */
	#told: Preparation | null = null;
	#conduit: { token: string; conversationId: string | null; expiresAt: number } | null = null;

	constructor({ prepare }: Pick<Api, 'prepare'>) {
		this.#prepare = prepare;
	}

	/** Called whenever what would be sent has changed. With null there is nothing to prepare. */
	consider(preparation: Preparation | null): void {
		clearTimeout(this.#timer);
		if (preparation?.isWeighed !== true || !this.#isHere(preparation)) this.weight = null;
		if (preparation === null) return this.cancel();
		if (!this.#isDue(preparation)) return;
		this.#timer = setTimeout(() => void this.#ask(preparation), REST_MS);
	}

	/** Nobody waits for an answer any more. What was not answered was not told, either. */
	cancel(): void {
		clearTimeout(this.#timer);
		if (this.#asking === null) return;
		this.#asking.abort();
		this.#asking = null;
		this.#told = null;
	}

	/** What a Send brings along. The server ignores one that is too old or was for something else. */
	headersFor(body: SendBody): Record<string, string> {
		const conduit = this.#conduit;
		const isHere = conduit?.conversationId === (body.conversation_id ?? null);
		const isGood = isHere && Date.now() < conduit.expiresAt;
		return isGood ? { 'x-conduit-token': conduit.token } : {};
	}

	/** A message was taken: what was read for it has done its service. */
	settle({ conversation_id }: SendBody): void {
		const id = conversation_id ?? null;
		if (this.#told?.conversationId === id) this.#told = null;
		if (this.#conduit?.conversationId === id) this.#conduit = null;
	}

	#isDue(preparation: Preparation): boolean {
		const { text, isReadAhead, isWeighed } = preparation;
		if (!this.#isHere(preparation)) {
			return isWeighed || (isReadAhead && (text === '' || text.length >= MIN_NEW_CHARS));
		}
		const told = this.#told?.text ?? '';
		if (isWeighed) return text !== told || this.weight === null;
		return isReadAhead && numNew(text, told) >= MIN_NEW_CHARS;
	}

	/** With another beginning or another model, all is new. */
	#isHere({ conversationId, parent, ask }: Preparation): boolean {
		const told = this.#told;
		const isSame = told?.conversationId === conversationId && told.parent === parent;
		return isSame && told.ask.model === ask.model;
	}

	async #ask(preparation: Preparation): Promise<void> {
		this.cancel();
		const { conversationId, isWeighed } = preparation;
		const asking = new AbortController();
		this.#asking = asking;
		this.#told = preparation;
		try {
			const prepared = await this.#prepare(toldOf(preparation), asking.signal);
			if (asking.signal.aborted) return;
			this.#asking = null;
			this.#keep(prepared, conversationId);
			if (isWeighed) this.weight = weightOf(prepared);
		} catch (error) {
			if (asking.signal.aborted) return;
			this.#asking = null;
			const { code } = failureOf(error);
			if (isWeighed) this.weight = code === 'context_length_exceeded' ? 'too long' : null;
			// What the server has not heard is told again with the next letters.
			if (!(error instanceof ApiError)) this.#told = null;
		}
	}

	#keep({ conduit_token: token }: Prepared, conversationId: string | null): void {
		if (token === null) return;
		this.#conduit = { token, conversationId, expiresAt: Date.now() + TOKEN_MS };
	}
}

/** How much of a text goes beyond what it has in common with another. */
function numNew(text: string, before: string): number {
	let numSame = 0;
	while (numSame < text.length && text[numSame] === before[numSame]) numSame++;
	return text.length - numSame;
}

function weightOf(prepared: Prepared): Weight | null {
	const { num_tokens, num_window_tokens, num_dropped_messages, is_exact } = prepared;
	if (num_tokens === null || num_window_tokens === null) return null;
	return {
		num_tokens,
		num_window_tokens,
		num_dropped_messages: num_dropped_messages ?? 0,
		is_exact: is_exact ?? false
	};
}
