/**
 * The messages that the server has not accepted yet, in localStorage: they survive a reload and a
 * closed tab, and are deleted on sign-out. All tabs share them.
 */
import type { SendBodyAttachment } from '$/api/wire';
import type { SendOptions } from '$/state/sendBody';

/** NOTE: stored as JSON; another version of the page may read it. */
export interface OutgoingMessage {
	/** The message id. It stays the same in every try, so the server accepts the message once. */
	id: string;
	text: string;
	/** Null for the first message of a conversation. */
	conversationId: string | null;
	parent: string | null;
	/** The message that this one edits. */
	edits: string | null;
	/** Absent in messages without any. */
	attachments?: SendBodyAttachment[];
	ask: SendOptions;
	/** Whether its conversation is temporary. */
	isTemporary?: boolean;
	/** Whether it waits for an unreachable server. */
	isWaiting: boolean;
}

export class Outbox {
	#storage: Storage;
	#prefix: string;
	/** Messages that the browser refused to store (private mode, or full). */
	#unstored = new Map<string, OutgoingMessage>();

	constructor(storage: Storage, userId: string) {
		this.#storage = storage;
		this.#prefix = `hitsend.letter.${userId}.`;
	}

	get messages(): OutgoingMessage[] {
		const keys = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i) ?? '');
		const ours = keys.filter((key) => key.startsWith(this.#prefix));
		return [...ours.flatMap((key) => this.#read(key) ?? []), ...this.#unstored.values()];
	}

	/** Reads storage each time, because another tab may have changed or removed the message. */
	find(id: string): OutgoingMessage | null {
		return this.#read(this.#prefix + id) ?? this.#unstored.get(id) ?? null;
	}

	put(outgoing: OutgoingMessage): void {
		try {
			this.#storage.setItem(this.#prefix + outgoing.id, JSON.stringify(outgoing));
		} catch (error) {
			if (!(error instanceof DOMException)) throw error;
			this.#unstored.set(outgoing.id, outgoing);
		}
	}

	remove(id: string): void {
		this.#storage.removeItem(this.#prefix + id);
		this.#unstored.delete(id);
	}

	/** Calls `onchange` when another tab has changed the outbox. */
	watch(onchange: () => void, signal: AbortSignal): void {
		const check = ({ key }: StorageEvent) => {
			if (key === null || key.startsWith(this.#prefix)) onchange();
		};
		addEventListener('storage', check, { signal });
	}

	#read(key: string): OutgoingMessage | null {
		try {
			return JSON.parse(this.#storage.getItem(key) ?? 'null') as OutgoingMessage | null;
		} catch {
			return null;
		}
	}
}
