/** What is attached to the next message of a conversation. It is stored like its draft. */
import type { SendBodyAttachment } from '$/api/wire';
import type { Drafts } from '$/state/drafts';

export const MAX_ATTACHMENTS = 10;

export class Attached {
	#items = $state.raw<SendBodyAttachment[]>([]);
	#drafts: Drafts;
	#conversationId: () => string | null;
	#isStorable: () => boolean;

	constructor(drafts: Drafts, conversationId: () => string | null, isStorable: () => boolean) {
		this.#drafts = drafts;
		this.#conversationId = conversationId;
		this.#isStorable = isStorable;
		this.#items = drafts.getAttached(conversationId());
	}

	get items(): SendBodyAttachment[] {
		return this.#items;
	}
	get isFull(): boolean {
		return this.#items.length >= MAX_ATTACHMENTS;
	}

	/** A text that is there already is replaced. */
	add(...added: SendBodyAttachment[]): void {
		const isAdded = (one: SendBodyAttachment) =>
			added.some(({ server, uri }) => server === one.server && uri === one.uri);
		this.#set([...this.#items.filter((one) => !isAdded(one)), ...added].slice(0, MAX_ATTACHMENTS));
	}

	remove(removed: SendBodyAttachment): void {
		this.#set(this.#items.filter((one) => one !== removed));
	}

	/** Returns them for a message that is sent. */
	take(): SendBodyAttachment[] {
		const items = this.#items;
		if (items.length > 0) this.#set([]);
		return items;
	}

	#set(items: SendBodyAttachment[]): void {
		this.#items = items;
		this.#drafts.setAttached(this.#conversationId(), this.#isStorable() ? items : []);
	}
}
