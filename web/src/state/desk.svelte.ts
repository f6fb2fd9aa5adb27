/** What lies before somebody who is signed in: their list, and the one conversation that is open. */
import type { Api } from '$/api/client';
import { Conversation } from '$/state/conversation.svelte';
import { Conversations } from '$/state/conversations.svelte';
import { Engine } from '$/state/engine.svelte';

export class Desk {
	readonly conversations: Conversations;
	readonly engine: Engine;
	open: Conversation;

	#api: Api;

	constructor(api: Api) {
		this.#api = api;
		this.conversations = new Conversations(api);
		this.engine = new Engine(api);
		this.open = $state.raw(new Conversation(api, null));
	}

	/** Opens a conversation, or with null a new one. The one that is open stays as it is. */
	visit(id: string | null): void {
		if (id === this.open.id) return;
		this.open.leave();
		this.open = new Conversation(this.#api, id);
		void this.open.load();
	}

	async rename(id: string, title: string): Promise<void> {
		await this.conversations.rename(id, title);
		if (id === this.open.id) this.open.retitle(title);
	}

	leave(): void {
		this.open.leave();
	}
}
