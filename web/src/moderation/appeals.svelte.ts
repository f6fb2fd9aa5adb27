/** The reviews that the person asked for in a conversation, and what came of them. */
import type { Api } from '$/api/client';
import type { OwnReview } from '$/api/wire';
import { SafetyApi } from '$/moderation/safetyApi';
import type { Conversation } from '$/state/conversation.svelte';
import { Operation } from '$/state/operation.svelte';

export class Appeals {
	isKnown = $state(false);
	#byMessage = $state.raw<ReadonlyMap<string, OwnReview>>(new Map());
	#api: SafetyApi;
	#conversation: Conversation;
	#loading = new Operation();

	constructor(api: SafetyApi, conversation: Conversation) {
		this.#api = api;
		this.#conversation = conversation;
	}

	find(messageId: string): OwnReview | null {
		return this.#byMessage.get(messageId) ?? null;
	}

	/** If it fails, what was known stays: it is tried again when the page is looked at. */
	load = async (): Promise<void> => {
		const { id } = this.#conversation;
		if (id === null) return;
		await this.#loading.run(async () => {
			const found = await this.#api.listAppeals(id);
			this.#byMessage = new Map(found.map((one) => [one.message_id, one]));
			this.isKnown = true;
		});
	};

	/** Throws if the server refuses. */
	async ask(messageId: string, words: string): Promise<void> {
		const asked = await this.#api.appeal(this.#conversation.id ?? '', messageId, words);
		this.#byMessage = new Map([...this.#byMessage, [messageId, asked]]);
		this.isKnown = true;
	}
}

const known = new WeakMap<Conversation, Appeals>();

/** All notes of a conversation share one list. */
export function findAppeals(api: Api, conversation: Conversation): Appeals {
	const found = known.get(conversation) ?? new Appeals(new SafetyApi(api), conversation);
	if (!known.has(conversation)) {
		known.set(conversation, found);
		void found.load();
	}
	return found;
}
