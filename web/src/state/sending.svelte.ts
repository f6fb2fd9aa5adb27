/**
 * Sends the person's messages in the open conversation. `Delivery` brings them to the server, and
 * `LiveTurn` reads the answers. A refused message returns to where it was written.
 */
import type { Api } from '$/api/client';
import type { Failure, SendBodyAttachment } from '$/api/wire';
import { findSecrets, replaceSecrets, type FoundSecret, type SecretKind } from '$/safety/secrets';
import type { Attached } from '$/state/attached.svelte';
import type { Conversation } from '$/state/conversation.svelte';
import type { Delivery, DeliveryResult } from '$/state/delivery.svelte';
import type { Draft } from '$/state/draft.svelte';
import { createId } from '$/state/ids';
import type { LiveTurn } from '$/state/liveTurn.svelte';
import { getLeafId } from '$/state/messageTree';
import type { OutgoingMessage } from '$/state/outbox';
import { buildSendBody, toMessage, type SendOptions } from '$/state/sendBody';
import type { ServerCopy } from '$/state/serverCopy.svelte';
import { Turn } from '$/turn/turn.svelte';

/** The message that is being edited. */
export interface Editing {
	id: string;
	text: string;
	/** Why the server refused it. */
	problem: Failure | null;
	/** What is attached instead of what the message had. */
	attachments?: SendBodyAttachment[];
}

/** What a person sends: their words, and what is attached to them. */
interface Written {
	text: string;
	attachments: SendBodyAttachment[];
}

/** Asks whether to send a message with secrets in it. */
export interface SecretQuestion {
	/** `title` is that of an attachment, or null for what the person wrote. */
	found: { title: string | null; secrets: FoundSecret[] }[];
	/** What is sent as it is, is not asked about again. `replace` says what to put in each place. */
	answer: (choice: 'send' | 'back' | { replace: (kind: SecretKind) => string }) => Promise<void>;
}

type ShownConversation = Pick<
	Conversation,
	'id' | 'path' | 'canSend' | 'getParentId' | 'message' | 'reveal'
>;

export class Sending {
	/** The message that the server has not accepted yet. It is shown as if it had. */
	outgoing = $state.raw<OutgoingMessage | null>(null);
	editing = $state<Editing | null>(null);
	/** Nothing is sent before it is answered. */
	secretQuestion = $state.raw<SecretQuestion | null>(null);
	/** A message that waits for the server to be reachable. */
	queued = $derived.by(() =>
		this.outgoing === null ? this.#delivery.waitingIn(this.#shown.id) : null
	);

	#api: Api;
	#shown: ShownConversation;
	#serverCopy: ServerCopy;
	#liveTurn: LiveTurn;
	#delivery: Delivery;
	#draft: Draft;
	#attached: Attached;
	/** The server may have got this refused message. Sent again unchanged, it keeps its id. */
	#unsent: OutgoingMessage | null = null;
	/** The secrets that the person chose to send. */
	#allowed = new Set<string>();

	constructor(
		api: Api,
		shown: ShownConversation,
		serverCopy: ServerCopy,
		liveTurn: LiveTurn,
		delivery: Delivery,
		draft: Draft,
		attached: Attached
	) {
		this.#api = api;
		this.#shown = shown;
		this.#serverCopy = serverCopy;
		this.#liveTurn = liveTurn;
		this.#delivery = delivery;
		this.#draft = draft;
		this.#attached = attached;
	}

	/** Sends the draft after the last message. */
	async send(options: SendOptions): Promise<void> {
		const { text } = this.#draft;
		if (text.trim() === '' || !this.#shown.canSend) return;
		const written = { text, attachments: this.#attached.items };
		if (this.#hasSecret(written)) {
			return this.#ask(written, ({ text, attachments }) => {
				this.#draft.text = text;
				this.#attached.add(...attachments);
				return this.send(options);
			});
		}
		const attachments = this.#attached.take();
		const outgoing = this.#compose(text, getLeafId(this.#shown.path), options, attachments);
		this.#draft.text = '';
		await this.#deliver(outgoing);
	}

	/** Sends the edited message with what was attached to it, as a new branch beside the old one. */
	async edit(options: SendOptions): Promise<void> {
		if (this.editing === null || this.editing.text.trim() === '' || !this.#shown.canSend) return;
		const { id, text } = this.editing;
		const attachments = this.editing.attachments ?? this.#attachmentsOf(id);
		if (this.#hasSecret({ text, attachments })) {
			return this.#ask({ text, attachments }, (chosen) => {
				this.editing = { id, problem: null, ...chosen };
				return this.edit(options);
			});
		}
		this.editing = null;
		await this.#deliver({
			...this.#compose(text, this.#shown.getParentId(id), options, attachments),
			edits: id
		});
	}

	/** Returns the secrets in a text that the person has not chosen to send. */
	findSecrets(text: string): FoundSecret[] {
		return findSecrets(text).filter((secret) => !this.#allowed.has(secret.text));
	}

	/** Returns the queued message to where it was written. */
	unqueue(): void {
		const outgoing = this.queued === null ? null : this.#delivery.cancel(this.queued.id);
		if (outgoing !== null) this.#restore(outgoing, null);
	}

	/** Shows a message that is being sent to this conversation, and the answer to it. */
	async watch(outgoing: OutgoingMessage, turn: Turn): Promise<void> {
		this.outgoing = outgoing;
		await this.#liveTurn.run(turn);
	}

	/** Called with the result of every message. Returns whether the answer is shown here. */
	settle(outgoing: OutgoingMessage, result: DeliveryResult): boolean {
		const isShown = this.outgoing?.id === outgoing.id;
		if (!isShown && outgoing.conversationId !== this.#shown.id) return false;
		if (isShown) this.outgoing = null;
		switch (result.kind) {
			case 'accepted':
				if (isShown) this.#store(outgoing);
				if (!isShown || this.#serverCopy.isStale) void this.#liveTurn.load();
				break;
			case 'refused':
				this.#restore(outgoing, result.failure);
				break;
			case 'waiting':
				break;
			default:
				result satisfies never;
		}
		return isShown;
	}

	#hasSecret({ text, attachments }: Written): boolean {
		return [text, ...attachments.map((one) => one.text)].some(
			(one) => this.findSecrets(one).length > 0
		);
	}

	/** `send` gets what the person chose to send. */
	#ask(written: Written, send: (chosen: Written) => Promise<void>): void {
		const found = [{ title: null, text: written.text }, ...written.attachments]
			.map(({ title, text }) => ({ title, secrets: this.findSecrets(text) }))
			.filter(({ secrets }) => secrets.length > 0);
		const answer: SecretQuestion['answer'] = async (choice) => {
			this.secretQuestion = null;
			if (choice === 'back') return;
			if (choice !== 'send') return send(this.#replaceSecrets(written, choice.replace));
			for (const { secrets } of found) secrets.forEach(({ text }) => this.#allowed.add(text));
			await send(written);
		};
		this.secretQuestion = { found, answer };
	}

	#replaceSecrets(written: Written, describe: (kind: SecretKind) => string): Written {
		const replace = (text: string) => replaceSecrets(text, this.findSecrets(text), describe);
		const attachments = written.attachments.map((one) => ({ ...one, text: replace(one.text) }));
		return { text: replace(written.text), attachments };
	}

	async #deliver(outgoing: OutgoingMessage): Promise<void> {
		const turn = new Turn(this.#api, { body: buildSendBody(outgoing) });
		await Promise.all([this.watch(outgoing, turn), this.#delivery.send(outgoing, turn)]);
	}

	#attachmentsOf(id: string): SendBodyAttachment[] {
		const attached = this.#shown.message(id)?.metadata.attachments ?? [];
		return attached.map(({ title, server, uri, text }) => ({ title, server, uri, text }));
	}

	#compose(
		text: string,
		parent: string | null,
		ask: SendOptions,
		attachments: SendBodyAttachment[]
	): OutgoingMessage {
		const conversationId = this.#shown.id;
		const { isTemporary } = this.#serverCopy;
		const attached = attachments.length > 0 ? { attachments } : {};
		const fields = {
			text,
			...attached,
			conversationId,
			parent,
			edits: null,
			ask,
			isWaiting: false
		};
		const composed = isTemporary ? { ...fields, isTemporary } : fields;
		const unsent = this.#unsent;
		const resent = { ...composed, id: unsent?.id ?? createId() };
		const isResend = unsent !== null && hasSameBody(resent, unsent);
		return isResend ? resent : { ...composed, id: createId() };
	}

	#store(outgoing: OutgoingMessage): void {
		this.#serverCopy.add([toMessage(outgoing)]);
		this.#serverCopy.current = outgoing.id;
		this.#unsent = null;
	}

	/** Returns the text to the editor it came from if that is free, else to the draft. */
	#restore(outgoing: OutgoingMessage, failure: Failure | null): void {
		this.#unsent = outgoing;
		if (outgoing.edits !== null && this.editing === null && this.#shown.reveal(outgoing.edits)) {
			const { edits: id, text, attachments = [] } = outgoing;
			this.editing = { id, text, problem: failure, attachments };
		} else {
			this.#liveTurn.problem = failure;
			this.#draft.restore(outgoing.text);
			this.#attached.add(...(outgoing.attachments ?? []));
		}
	}
}

function hasSameBody(one: OutgoingMessage, other: OutgoingMessage): boolean {
	return JSON.stringify(buildSendBody(one)) === JSON.stringify(buildSendBody(other));
}
