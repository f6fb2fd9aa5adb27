/**
 * Unsent drafts by conversation, in localStorage until sign-out. Drafts of temporary chats are never
 * stored.
 */
const NEW = 'new';

export class Drafts {
	#storage: Storage;
	#prefix: string;

	constructor(storage: Storage, userId: string) {
		this.#storage = storage;
		this.#prefix = `hitsend.draft.${userId}.`;
	}

	/** Null stands for a new conversation. */
	get(conversationId: string | null): string {
		return this.#storage.getItem(this.#key(conversationId)) ?? '';
	}

	set(conversationId: string | null, text: string): void {
		const key = this.#key(conversationId);
		try {
			if (text === '') this.#storage.removeItem(key);
			else this.#storage.setItem(key, text);
		} catch (error) {
			// Storage is off or full: the draft lives as long as the page.
			if (!(error instanceof DOMException)) throw error;
		}
	}

	/** Puts back the text of a refused message, before what was written since. */
	restore(conversationId: string | null, text: string): void {
		this.set(conversationId, prepend(text, this.get(conversationId)));
	}

	#key(conversationId: string | null): string {
		return this.#prefix + (conversationId ?? NEW);
	}
}

export function prepend(text: string, draft: string): string {
	return draft === '' ? text : `${text}\n\n${draft}`;
}
