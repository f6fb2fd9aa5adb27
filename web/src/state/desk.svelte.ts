/** What lies before somebody who is signed in: their list, and the one conversation that is open. */
import { failureOf, type Api } from '$/api/client';
import type { Me } from '$/api/wire';
import { Conversation, type Ask } from '$/state/conversation.svelte';
import { Conversations } from '$/state/conversations.svelte';
import { Drafts } from '$/state/drafts';
import { Engine } from '$/state/engine.svelte';
import { Notices } from '$/state/notices.svelte';
import type { Preferences } from '$/state/preferences.svelte';
import { sentenceOf } from '$/words/problem';

export class Desk {
	readonly conversations: Conversations;
	readonly engine: Engine;
	readonly notices = new Notices();
	open: Conversation;

	#drafts: Drafts;

	/** `go` opens the conversation of an address: the router's, where there is one. */
	constructor(
		readonly api: Api,
		readonly preferences: Preferences,
		readonly user: Me['user'],
		readonly go: (path: string) => void
	) {
		this.conversations = new Conversations(api);
		this.engine = new Engine(api, localStorage);
		this.#drafts = new Drafts(localStorage, user.id);
		this.open = $state.raw(new Conversation(api, null, this.#drafts));
	}

	/** What the next message asks for: which model, and how it chooses its words. */
	get ask(): Ask {
		return { model: this.engine.chosen, sampling: this.preferences.sampling };
	}

	/** Opens a conversation, or with null a new one. The one that is open stays as it is. */
	visit(id: string | null): void {
		if (id === this.open.id) return;
		this.open.leave();
		this.open = new Conversation(this.api, id, this.#drafts);
		void this.open.load();
	}

	async rename(id: string, title: string): Promise<void> {
		await this.conversations.rename(id, title);
		if (id === this.open.id) this.open.retitle(title);
	}

	/** Puts a conversation out of sight. It can be brought back from the archive. */
	async archive(id = this.open.id): Promise<void> {
		if (id !== null) await this.#putAway(id, this.#t.archived, { is_archived: true });
	}

	/** Deletes a conversation, with a moment to think better of it. */
	async remove(id = this.open.id): Promise<void> {
		if (id !== null) await this.#putAway(id, this.#t.removed, { is_visible: false });
	}

	async togglePin(id = this.open.id): Promise<void> {
		if (id === null) return;
		const isPinned = this.conversations.find(id)?.is_pinned ?? false;
		await this.#attempt(() => this.conversations.change(id, { is_pinned: !isPinned }));
	}

	leave(): void {
		this.open.leave();
	}

	get #t() {
		return this.preferences.words.desk;
	}

	async #putAway(
		id: string,
		told: (title: string) => string,
		change: { is_archived: true } | { is_visible: false }
	): Promise<void> {
		const wasOpen = id === this.open.id;
		const title = this.conversations.find(id)?.title ?? this.open.title;
		const isDone = await this.#attempt(() => this.conversations.change(id, change));
		if (!isDone) return;
		if (wasOpen) this.go('/');
		const back = 'is_archived' in change ? { is_archived: false } : { is_visible: true };
		const undo = async () => {
			await this.#attempt(() => this.conversations.change(id, back));
			if (wasOpen) this.go(`/c/${id}`);
		};
		this.notices.tell(told(title), { label: this.#t.undo, run: () => void undo() });
	}

	/** What cannot be done is said, and changes nothing. */
	async #attempt(what: () => Promise<void>): Promise<boolean> {
		try {
			await what();
			return true;
		} catch (error) {
			this.notices.warn(sentenceOf(failureOf(error), this.preferences.words));
			return false;
		}
	}
}
