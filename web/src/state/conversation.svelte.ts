/**
 * The conversation on the screen: what is stored of it, the turn that is running in it, and
 * everything a person can do to it.
 */
import { untrack } from 'svelte';
import type { Api } from '$/api/client';
import { ROOT, type Failure, type Message, type SendBody } from '$/api/wire';
import { newId } from '$/state/id';
import { EMPTY, grow, pathThrough, prune, type Tree } from '$/state/tree';
import { Turn } from '$/turn/turn.svelte';

export class Conversation {
	draft = $state('');
	/** One sentence about what went wrong with the last thing the person tried. */
	problem = $state<string | null>(null);
	state = $state<'loading' | 'open' | 'missing'>('open');
	turn = $state.raw<Turn | null>(null);

	#id = $state<string | null>(null);
	#title = $state('');
	#stored = $state.raw<Tree>(EMPTY);
	#current = $state<string | null>(null);

	/** Null until the server has given it one, with the first words of the first turn. */
	id = $derived(this.#id ?? this.turn?.conversationId ?? null);
	title = $derived(this.turn?.title ?? this.#title);
	isAnswering = $derived(this.turn?.isRunning ?? false);
	isWaiting = $derived(this.isAnswering && this.turn?.answer == null);

	#tree = $derived.by(() => {
		// Rebuilt when the turn adds a message, not when a message grows: `message` reads the words.
		void this.turn?.messageIds;
		return untrack(() => this.turn?.messages ?? []).reduce(grow, this.#stored);
	});
	path = $derived(pathThrough(this.#tree, this.#current, this.isWaiting));

	#api: Api;
	#isLeft = false;
	/** A message the server may have heard is sent again under the same id, so it is said once. */
	#unsent: { id: string; text: string } | null = null;

	constructor(api: Api, id: string | null) {
		this.#api = api;
		this.#id = id;
	}

	message(id: string): Message | null {
		return this.turn?.messages.find((m) => m.id === id) ?? this.#tree.get(id)?.message ?? null;
	}

	/** Fetches what is stored, and goes on with the turn that is still running. */
	async load(): Promise<void> {
		const turnId = await this.#fetch();
		if (turnId === null || this.id === null || this.#isLeft) return;
		void this.#run(new Turn(this.#api, { turnId, conversationId: this.id }));
	}

	/** Says what is in the draft, after the last message. */
	async send(model: string): Promise<void> {
		const text = this.draft.trim();
		if (text === '' || this.isAnswering) return;
		this.draft = '';
		await this.#say(text, this.path.at(-1)?.id ?? null, model);
	}

	/** Says a message differently: a new branch beside it. */
	async edit(message: Message, text: string, model: string): Promise<void> {
		await this.#say(text.trim(), this.#tree.get(message.id)?.parent ?? null, model);
	}

	/** Asks for another answer to the message before this one. */
	async answerAgain(answerId: string, model: string): Promise<void> {
		const question = this.#tree.get(answerId)?.parent ?? null;
		if (question !== null) await this.answer(question, model);
	}

	async answer(question: string, model: string): Promise<void> {
		this.#current = question;
		const body = this.#body({
			action: 'variant',
			messages: [],
			parent_message_id: question,
			model
		});
		await this.#run(new Turn(this.#api, { body }));
	}

	/** Shows another branch, and remembers it. */
	async show(id: string): Promise<void> {
		this.#current = id;
		const leaf = this.path.at(-1)?.id;
		if (this.id === null || leaf === undefined || this.isAnswering) return;
		await this.#api
			.changeConversation(this.id, { current_node: leaf })
			.catch((error: unknown) => (this.problem = sentence(error)));
	}

	/** The server has been told of its new title. */
	retitle(title: string): void {
		this.#title = title;
		if (this.turn !== null) this.turn.title = null;
	}

	/** Nobody looks at it any more. A running turn goes on without us. */
	leave(): void {
		this.#isLeft = true;
		this.turn?.leave();
	}

	/** Fetches what is stored. Gives the id of the turn that is running, if one is. */
	async #fetch(): Promise<string | null> {
		if (this.id === null) return null;
		if (this.#stored.size === 0) this.state = 'loading';
		try {
			const detail = await this.#api.conversation(this.id);
			this.#title = detail.title;
			this.#stored = new Map(Object.entries(detail.mapping));
			this.#current = detail.current_node;
			this.state = 'open';
			return detail.running?.turn_exchange_id ?? null;
		} catch (error) {
			this.state = this.#stored.size === 0 ? 'missing' : 'open';
			this.problem = sentence(error);
			return null;
		}
	}

	async #say(text: string, parent: string | null, model: string): Promise<void> {
		const id = this.#unsent?.text === text ? this.#unsent.id : newId();
		const content = { content_type: 'text', parts: [text] };
		this.#stored = grow(this.#stored, userMessage(id, parent, content));
		this.#current = id;
		const messages = [{ id, author: { role: 'user' as const }, content }];
		const body = this.#body({
			action: 'next',
			messages,
			parent_message_id: parent ?? ROOT,
			model
		});
		const turn = new Turn(this.#api, { body });
		this.#unsent = (await this.#run(turn)) ? null : { id, text };
		if (this.#unsent !== null) await this.#takeBack(this.#unsent, parent, turn.failure);
	}

	/** The words go back to where they were written, unless the server has heard them after all. */
	async #takeBack(
		{ id, text }: { id: string; text: string },
		parent: string | null,
		failure: Failure | null
	): Promise<void> {
		this.#stored = prune(this.#stored, id);
		this.#current = parent;
		if (failure?.code == null || failure.code === 'conflict') await this.load();
		if (this.#stored.has(id)) this.problem = null;
		else if (this.draft === '') this.draft = text;
	}

	/** Reads a turn to its end. False if there was none, because the server did not take it. */
	async #run(turn: Turn): Promise<boolean> {
		this.problem = null;
		this.turn = turn;
		const outcome = await turn.run();
		if (outcome === 'left') return true;
		if (outcome === 'unsent') {
			this.problem = turn.failure?.message ?? null;
			this.turn = null;
			return false;
		}
		this.#id = this.id;
		this.#title = this.title;
		this.#stored = turn.messages.reduce(grow, this.#stored);
		if (outcome === 'doubtful') {
			this.turn = null;
			await this.#fetch();
		}
		return true;
	}

	#body(said: Pick<SendBody, 'action' | 'messages' | 'parent_message_id' | 'model'>): SendBody {
		return {
			...said,
			...(this.id === null ? {} : { conversation_id: this.id }),
			supported_encodings: ['v1'],
			timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
			timezone_offset_min: new Date().getTimezoneOffset()
		};
	}
}

function userMessage(id: string, parent: string | null, content: Message['content']): Message {
	return {
		id,
		author: { role: 'user' },
		create_time: Date.now() / 1000,
		content,
		status: 'finished_successfully',
		metadata: { parent_id: parent }
	};
}

function sentence(error: unknown): string {
	if (error instanceof Error) return error.message;
	throw error;
}
