/**
 * The conversation on the screen: what is stored of it, the turn that is running in it, and
 * everything a person can do to it.
 */
import { untrack } from 'svelte';
import { ApiError, failureOf, Unreachable, type Api } from '$/api/client';
import type { Failure, Feedback, Message, Share, Weight } from '$/api/wire';
import { Draft } from '$/state/draft.svelte';
import type { Drafts } from '$/state/drafts';
import { homeOf, isServerThere } from '$/state/heard';
import { newId } from '$/state/id';
import { bodyOf, bodyWithout, messageOf, type Ask, type Letter } from '$/state/letter';
import { Outbox } from '$/state/outbox';
import {
	EMPTY,
	grow,
	joined,
	leafOf,
	pathThrough,
	prune,
	type Place,
	type Tree
} from '$/state/tree';
import { backOff, type Pause } from '$/turn/pause';
import { Turn } from '$/turn/turn.svelte';

export type { Ask } from '$/state/letter';

export class Conversation {
	/** What went wrong with the last thing the person tried. */
	problem = $state.raw<Failure | null>(null);
	/** `unreachable` becomes `open` by itself, as soon as the server answers. */
	state = $state<'loading' | 'open' | 'missing' | 'unreachable'>('open');
	turn = $state.raw<Turn | null>(null);
	/** A message that waits for the connection to come back. */
	queued = $state.raw<Letter | null>(null);

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
	/** What the model had before it and wrote, by its last answer here. Null if nobody counted. */
	numContextTokens = $derived.by(() => {
		const answer = this.path.slice(-2).findLast(({ ids }) => this.#usage(ids) !== null);
		const usage = answer === undefined ? null : this.#usage(answer.ids);
		return usage === null ? null : usage.num_input_tokens + usage.num_output_tokens;
	});

	#api: Api;
	#draft: Draft;
	#outbox: Outbox;
	#pause: Pause;
	#left = new AbortController();
	/** A message the server may have heard is sent again under the same id, so it is said once. */
	#unsent: Letter | null = null;

	constructor(api: Api, id: string | null, drafts: Drafts, pause: Pause = backOff) {
		this.#api = api;
		this.#id = id;
		this.#draft = new Draft(drafts, () => this.id);
		this.#outbox = new Outbox(drafts);
		this.#pause = pause;
		this.queued = this.#outbox.of(id);
		if (id === null && this.queued !== null) void this.#deliver();
		addEventListener('pagehide', () => this.#draft.flush(), { signal: this.#left.signal });
	}

	get draft(): string {
		return this.#draft.text;
	}
	set draft(text: string) {
		this.#draft.text = text;
	}

	message(id: string): Message | null {
		return this.turn?.messages.find((m) => m.id === id) ?? this.#tree.get(id)?.message ?? null;
	}

	/** What stands at a place, as one message. */
	read({ ids }: Place): Message | null {
		return joined(ids.flatMap((id) => this.message(id) ?? []));
	}

	/** Fetches what is stored, and goes on with the turn that is running and the message that waits. */
	async load(): Promise<void> {
		let turnId = await this.#fetch();
		for (let tries = 0; this.state === 'unreachable'; tries++) {
			await this.#pause(tries, this.#left.signal);
			if (this.#left.signal.aborted) return;
			turnId = await this.#fetch();
		}
		if (this.id === null || this.#left.signal.aborted) return;
		if (turnId !== null) {
			void this.#run(new Turn(this.#api, { turnId, conversationId: this.id }));
		}
		if (this.queued !== null && this.state === 'open') void this.#deliver();
	}

	/** Says what is in the draft, after the last message. */
	async send(ask: Ask): Promise<void> {
		const text = this.draft;
		if (text.trim() === '' || this.isAnswering || this.queued !== null) return;
		this.draft = '';
		await this.#post({ id: this.#idFor(text), text, parent: leafOf(this.path), ask });
	}

	/** Says a message differently: a new branch beside it. */
	async edit(message: Message, text: string, ask: Ask): Promise<void> {
		if (text.trim() === '' || this.isAnswering || this.queued !== null) return;
		const parent = this.#tree.get(message.id)?.parent ?? null;
		await this.#post({ id: this.#idFor(text), text, parent, ask });
	}

	/** Takes the message that waits back to where it was written. */
	unqueue(): void {
		if (this.queued === null) return;
		this.#unsent = this.queued;
		this.#draft.giveBack(this.queued.text);
		this.#queue(null);
	}

	/** Asks for another answer to the message before this one. */
	async answerAgain(answerId: string, ask: Ask): Promise<void> {
		const question = this.#questionOf(answerId);
		if (question !== null) await this.answer(question, ask);
	}

	async answer(question: string, ask: Ask): Promise<void> {
		await this.#ask('variant', question, ask);
	}

	/** Lets an answer that was cut short go on from its last word. */
	async goOn(answerId: string, ask: Ask): Promise<void> {
		await this.#ask('continue', answerId, ask);
	}

	stop(): void {
		this.turn?.stop();
	}

	/** Shows another branch, and remembers it. */
	async show(id: string): Promise<void> {
		this.#current = id;
		const leaf = leafOf(this.path);
		if (this.id === null || leaf === null || this.isAnswering) return;
		await this.#attempt(this.#api.changeConversation(this.id, { current_node: leaf }));
	}

	/** Makes sure that a message is on the path. False if there is no such message. */
	reveal(id: string): boolean {
		if (!this.#tree.has(id)) return false;
		if (!this.path.some(({ ids }) => ids.includes(id))) this.#current = id;
		return true;
	}

	/** Says what the person thinks of an answer; with null, that they think nothing any more. */
	async rate(messageId: string, feedback: Feedback | null): Promise<void> {
		const before = this.message(messageId)?.metadata.feedback ?? null;
		if (this.id === null) return;
		this.#mark(messageId, feedback);
		const isDone = await this.#attempt(
			feedback === null
				? this.#api.unrate(this.id, messageId)
				: this.#api.rate(this.id, messageId, feedback)
		);
		if (!isDone) this.#mark(messageId, before);
	}

	/** Makes a link to everything up to a message. Refusals are thrown: the one who asks shows them. */
	async share(leafId: string): Promise<Share> {
		return this.#api.share(this.id ?? '', leafId);
	}

	/**
	 * What the draft would weigh, with everything before it. Null when there is nothing to weigh or
	 * nobody to ask; a refusal is thrown, because it is the one a Send would get.
	 */
	async weigh(ask: Ask, signal: AbortSignal): Promise<Weight | null> {
		const text = this.draft;
		if (text.trim() === '' || this.isAnswering) return null;
		const letter = { id: newId(), text, parent: leafOf(this.path), ask };
		try {
			return await this.#api.weigh(bodyOf(letter, this.id), signal);
		} catch (error) {
			if (signal.aborted || error instanceof Unreachable) return null;
			throw error;
		}
	}

	/** The server has been told of its new title. */
	retitle(title: string): void {
		this.#title = title;
		if (this.turn !== null) this.turn.title = null;
	}

	/** Nobody looks at it any more. A running turn goes on without us. */
	leave(): void {
		this.#draft.flush();
		this.#left.abort();
		this.turn?.leave();
	}

	/** Fetches what is stored. Gives the id of the turn that is running, if one is. */
	async #fetch(): Promise<string | null> {
		if (this.id === null) return null;
		if (this.#stored.size === 0 && this.state === 'open') this.state = 'loading';
		try {
			const detail = await this.#api.conversation(this.id);
			this.#title = detail.title;
			this.#stored = new Map(Object.entries(detail.mapping));
			this.#current = detail.current_node;
			this.state = 'open';
			this.problem = null;
			return detail.running?.turn_exchange_id ?? null;
		} catch (error) {
			this.problem = failureOf(error);
			const isGone = error instanceof ApiError && error.status === 404;
			if (this.#stored.size === 0) this.state = isGone ? 'missing' : 'unreachable';
			return null;
		}
	}

	/** Says it now, or as soon as there is a connection. */
	async #post(letter: Letter): Promise<void> {
		if (navigator.onLine) return this.#say(letter);
		this.#queue(letter);
		await this.#deliver();
	}

	async #say(letter: Letter): Promise<void> {
		this.#stored = grow(this.#stored, messageOf(letter));
		this.#current = letter.id;
		const turn = new Turn(this.#api, { body: bodyOf(letter, this.id) });
		if (await this.#run(turn)) {
			this.#unsent = null;
			return;
		}
		this.#stored = prune(this.#stored, letter.id);
		this.#current = letter.parent;
		await this.#notSaid(letter, turn.failure);
	}

	/** The words wait for the connection, or go back to where they were written, or were heard after all. */
	async #notSaid(letter: Letter, failure: Failure | null): Promise<void> {
		const isLost = failure?.code === 'unreachable';
		if ((isLost || failure?.code === 'conflict') && (await this.#wasHeard(letter.id, isLost)))
			return;
		this.problem = isLost ? null : failure;
		if (isLost) {
			this.#queue(letter);
			await this.#deliver();
		} else {
			this.#unsent = letter;
			this.#draft.giveBack(letter.text);
		}
	}

	/** Looks whether the server has a message, and if so goes on with its answer. */
	async #wasHeard(messageId: string, isLost: boolean): Promise<boolean> {
		// Who cannot be reached cannot be searched, either.
		if (this.id === null && isLost) return false;
		const home = await homeOf(this.#api, messageId, this.id);
		if (home === null) return false;
		this.#id = home;
		await this.load();
		return true;
	}

	/** Sends what waits, as soon as the server answers at all. */
	async #deliver(): Promise<void> {
		for (let tries = 0; this.queued !== null; tries++) {
			await this.#pause(tries, this.#left.signal);
			if (this.#left.signal.aborted) return;
			const letter = this.queued;
			if (letter === null || this.isAnswering || !(await isServerThere(this.#api))) continue;
			this.#queue(null);
			await this.#say(letter);
			return;
		}
	}

	#queue(letter: Letter | null): void {
		this.queued = letter;
		this.#outbox.keep(this.id, letter);
	}

	async #ask(action: 'variant' | 'continue', parent: string, ask: Ask): Promise<void> {
		if (this.isAnswering) return;
		const before = this.#current;
		this.#current = parent;
		const turn = new Turn(this.#api, { body: bodyWithout(action, parent, ask, this.id) });
		if (await this.#run(turn)) return;
		this.#current = before;
		this.problem = turn.failure;
	}

	/** Reads a turn to its end. False if there was none, because the server did not take it. */
	async #run(turn: Turn): Promise<boolean> {
		this.problem = null;
		this.turn = turn;
		const outcome = await turn.run();
		if (outcome === 'left') return true;
		if (outcome === 'unsent') {
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

	#mark(messageId: string, feedback: Feedback | null): void {
		const message = this.message(messageId);
		if (message === null) return;
		const metadata = { ...message.metadata };
		if (feedback === null) delete metadata.feedback;
		else metadata.feedback = feedback;
		const marked = { ...message, metadata };
		this.#stored = grow(this.#stored, marked);
		const turn = this.turn;
		if (turn !== null) {
			turn.messages = turn.messages.map((one) => (one.id === messageId ? marked : one));
		}
	}

	async #attempt(change: Promise<void>): Promise<boolean> {
		try {
			await change;
			return true;
		} catch (error) {
			this.problem = failureOf(error);
			return false;
		}
	}

	#questionOf(answerId: string): string | null {
		let node = this.#tree.get(answerId);
		while (node?.message?.author.role === 'assistant') node = this.#tree.get(node.parent ?? '');
		return node?.message == null ? null : node.id;
	}

	#usage(ids: string[]) {
		return this.message(ids.at(-1) ?? '')?.metadata.usage ?? null;
	}

	#idFor(text: string): string {
		return this.#unsent?.text === text ? this.#unsent.id : newId();
	}
}
