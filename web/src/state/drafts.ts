/**
 * What a person has written and not yet sent, by conversation. It outlives a reload, a closed
 * tab and a dead battery; it does not outlive signing out. Of temporary chats nothing is kept here.
 */
const NEW = 'new';

export class Drafts {
	#storage: Storage;
	#prefix: string;

	constructor(storage: Storage, userId: string) {
		this.#storage = storage;
		this.#prefix = `hitsend.draft.${userId}.`;
	}

	/** `null` is the conversation that has not begun. */
	of(conversationId: string | null): string {
		return this.#storage.getItem(this.#key(conversationId)) ?? '';
	}

	keep(conversationId: string | null, text: string): void {
		const key = this.#key(conversationId);
		try {
			if (text === '') this.#storage.removeItem(key);
			else this.#storage.setItem(key, text);
		} catch (error) {
			// The browser keeps nothing (private, or full): the draft lives as long as the page.
			if (!(error instanceof DOMException)) throw error;
		}
	}

	/** Words that could not be said come back before what was written since. */
	giveBack(conversationId: string | null, text: string): void {
		this.keep(conversationId, before(text, this.of(conversationId)));
	}

	#key(conversationId: string | null): string {
		return this.#prefix + (conversationId ?? NEW);
	}
}

export function before(text: string, written: string): string {
	return written === '' ? text : `${text}\n\n${written}`;
}
