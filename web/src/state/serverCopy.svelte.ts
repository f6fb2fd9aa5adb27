/**
 * The page's copy of a conversation as the server stores it. Fetched when the conversation is
 * opened and whenever it may have changed; turns that are read here are added without a fetch.
 */
import type { Backoff } from '$/api/backoff';
import type { Api } from '$/api/client';
import { ApiError, toFailure } from '$/api/http';
import type { ConversationDetail, Failure, Message } from '$/api/wire';
import { addMessage, buildTree, EMPTY, type Tree } from '$/state/messageTree';

export class ServerCopy {
	id = $state<string | null>(null);
	title = $state('');
	tree = $state.raw<Tree>(EMPTY);
	/** The message whose branch is shown. */
	current = $state<string | null>(null);
	/** `unreachable` becomes `open` as soon as the server answers. */
	state = $state<'loading' | 'open' | 'missing' | 'unreachable'>('open');
	/** Why it could not be fetched. */
	problem = $state.raw<Failure | null>(null);
	/** Whether a fetch is under way. */
	isStale = $state(false);
	/** As of the last fetch. The conversation lists are newer once they contain it. */
	isPinned = $state(false);
	isArchived = $state(false);
	/** Chosen before the first message, and never changed after it. */
	isTemporary = $state(false);

	#api: Pick<Api, 'getConversation'>;
	#backoff: Backoff;
	#signal: AbortSignal;
	#numFetches = 0;

	constructor(
		api: Pick<Api, 'getConversation'>,
		id: string | null,
		backoff: Backoff,
		signal: AbortSignal
	) {
		this.#api = api;
		this.id = id;
		this.#backoff = backoff;
		this.#signal = signal;
	}

	/**
	 * Fetches the conversation, with retries. Returns the id of its running turn or null, or
	 * undefined if a newer fetch took over. While `keepsBranch`, the shown branch does not change.
	 */
	async fetch(keepsBranch: () => boolean): Promise<string | null | undefined> {
		if (this.id === null) return null;
		const fetchId = ++this.#numFetches;
		this.isStale = true;
		if (this.tree.size === 0 && this.state === 'open') this.state = 'loading';
		for (let numTries = 0; fetchId === this.#numFetches && !this.#signal.aborted; numTries++) {
			if (numTries > 0) await this.#backoff(numTries - 1, this.#signal);
			const detail = await this.#request(this.id);
			if (fetchId !== this.#numFetches || detail === 'failed') continue;
			this.isStale = false;
			return detail === null ? null : this.#replace(detail, keepsBranch());
		}
		return undefined;
	}

	/** Ignores the result of a fetch under way. Returns whether there was one. */
	cancelFetch(): boolean {
		const wasStale = this.isStale;
		if (wasStale) this.#numFetches += 1;
		this.isStale = false;
		return wasStale;
	}

	add(messages: Message[]): void {
		this.tree = messages.reduce(addMessage, this.tree);
	}

	/** Replaces the messages that are in the tree, and adds none. */
	update(messages: Message[]): void {
		this.add(messages.filter(({ id }) => this.tree.has(id)));
	}

	/** Null if there is no such conversation. */
	async #request(id: string): Promise<ConversationDetail | 'failed' | null> {
		try {
			return await this.#api.getConversation(id);
		} catch (error) {
			const failure = toFailure(error);
			const isMissing = error instanceof ApiError && error.status === 404;
			if (isMissing || this.tree.size === 0) {
				this.problem = failure;
				this.state = isMissing ? 'missing' : 'unreachable';
			}
			return isMissing ? null : 'failed';
		}
	}

	#replace(detail: ConversationDetail, keepsBranch: boolean): string | null {
		this.title = detail.title;
		this.isPinned = detail.is_pinned;
		this.isArchived = detail.is_archived;
		this.isTemporary = detail.is_temporary ?? false;
		this.tree = buildTree(detail.mapping);
		if (!keepsBranch || this.current === null) this.current = detail.current_node;
		this.state = 'open';
		this.problem = null;
		return detail.running?.turn_exchange_id ?? null;
	}
}
