/**
 * A conversation as the server has it. Fetched when it is opened, and again whenever there may be
 * more to know; what is said before our eyes grows into it without asking.
 */
import { ApiError, failureOf, type Api } from '$/api/client';
import type { ConversationDetail, Failure, Message } from '$/api/wire';
import { EMPTY, grow, treeOf, type Tree } from '$/state/tree';
import type { Pause } from '$/api/pause';

export class Stored {
	id = $state<string | null>(null);
	title = $state('');
	tree = $state.raw<Tree>(EMPTY);
	/** The message whose branch is shown. */
	current = $state<string | null>(null);
	/** `unreachable` becomes `open` by itself, as soon as the server answers. */
	state = $state<'loading' | 'open' | 'missing' | 'unreachable'>('open');
	/** Why it could not be fetched. */
	problem = $state.raw<Failure | null>(null);
	/** Whether the server may know more of this than we do, and is being asked. */
	isStale = $state(false);
	/** How it lay when it was opened. The lists know more, once they have come to it. */
	isPinned = $state(false);
	isArchived = $state(false);
	/** Chosen before its first message, and for good. */
	isTemporary = $state(false);

	#api: Pick<Api, 'conversation'>;
	#pause: Pause;
	#left: AbortSignal;
	#asked = 0;

	constructor(api: Pick<Api, 'conversation'>, id: string | null, pause: Pause, left: AbortSignal) {
		this.#api = api;
		this.id = id;
		this.#pause = pause;
		this.#left = left;
	}

	/**
	 * Fetches it, as soon as that can be done. The turn that is running in it, if one is; undefined
	 * if nobody waits for it any more. While `isHeld`, the branch that is shown stays.
	 */
	async fetch(isHeld: () => boolean): Promise<string | null | undefined> {
		if (this.id === null) return null;
		const asked = ++this.#asked;
		this.isStale = true;
		if (this.tree.size === 0 && this.state === 'open') this.state = 'loading';
		for (let tries = 0; asked === this.#asked && !this.#left.aborted; tries++) {
			if (tries > 0) await this.#pause(tries - 1, this.#left);
			const detail = await this.#ask(this.id);
			// Who asked later knows better.
			if (asked !== this.#asked || detail === 'unknown') continue;
			this.isStale = false;
			return detail === null ? null : this.#take(detail, isHeld());
		}
		return undefined;
	}

	/** What the server is being asked for will be too old when it comes. False if it is not asked. */
	discard(): boolean {
		const wasStale = this.isStale;
		if (wasStale) this.#asked += 1;
		this.isStale = false;
		return wasStale;
	}

	grow(messages: Message[]): void {
		this.tree = messages.reduce(grow, this.tree);
	}

	/** The same messages, if they are here, as they are now. */
	refresh(messages: Message[]): void {
		this.grow(messages.filter(({ id }) => this.tree.has(id)));
	}

	/** Null if there is no such conversation. */
	async #ask(id: string): Promise<ConversationDetail | 'unknown' | null> {
		try {
			return await this.#api.conversation(id);
		} catch (error) {
			const failure = failureOf(error);
			const isMissing = error instanceof ApiError && error.status === 404;
			if (isMissing || this.tree.size === 0) {
				this.problem = failure;
				this.state = isMissing ? 'missing' : 'unreachable';
			}
			return isMissing ? null : 'unknown';
		}
	}

	#take(detail: ConversationDetail, isHeld: boolean): string | null {
		this.title = detail.title;
		this.isPinned = detail.is_pinned;
		this.isArchived = detail.is_archived;
		this.isTemporary = detail.is_temporary ?? false;
		this.tree = treeOf(detail.mapping);
		if (!isHeld || this.current === null) this.current = detail.current_node;
		this.state = 'open';
		this.problem = null;
		return detail.running?.turn_exchange_id ?? null;
	}
}
