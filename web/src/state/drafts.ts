/**
 * Unsent drafts by conversation, with what is attached, in localStorage until sign-out. Drafts of temporary chats are never
 * stored.
 */
import type { SendBodyAttachment } from '$/api/wire';

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
		this.#put(this.#key(conversationId), text);
	}

	getAttached(conversationId: string | null): SendBodyAttachment[] {
		try {
			const stored = this.#storage.getItem(this.#attachedKey(conversationId)) ?? '[]';
			return JSON.parse(stored) as SendBodyAttachment[];
		} catch {
			return [];
		}
	}

	setAttached(conversationId: string | null, attached: SendBodyAttachment[]): void {
		const stored = attached.length === 0 ? '' : JSON.stringify(attached);
		this.#put(this.#attachedKey(conversationId), stored);
	}

	/** Puts back a refused message, before what was written since. */
	restore(conversationId: string | null, text: string, attached: SendBodyAttachment[] = []): void {
		this.set(conversationId, prepend(text, this.get(conversationId)));
		const all = [...attached, ...this.getAttached(conversationId)];
		if (attached.length > 0) this.setAttached(conversationId, all);
	}

	#put(key: string, value: string): void {
		try {
			if (value === '') this.#storage.removeItem(key);
			else this.#storage.setItem(key, value);
		} catch (error) {
			// Storage is off or full: the draft lives as long as the page.
			if (!(error instanceof DOMException)) throw error;
		}
	}

	#key(conversationId: string | null): string {
		return this.#prefix + (conversationId ?? NEW);
	}

	#attachedKey(conversationId: string | null): string {
		return `${this.#key(conversationId)}.attached`;
	}
}

export function prepend(text: string, draft: string): string {
	return draft === '' ? text : `${text}\n\n${draft}`;
}
