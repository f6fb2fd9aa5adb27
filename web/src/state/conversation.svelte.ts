/**
 * The conversation on the screen: what is stored of it, the turn that is running in it, and
 * everything a person can do to it. What they say is brought to the server by `Delivery`.
 */
import { untrack } from 'svelte';
import { ApiError, failureOf, Unreachable, type Api } from '$/api/client';
import type { Failure, Feedback, Message, Share, Weight } from '$/api/wire';
import type { Delivery, Fate } from '$/state/delivery.svelte';
import { Draft } from '$/state/draft.svelte';
import type { Drafts } from '$/state/drafts';
import { newId } from '$/state/id';
import { bodyOf, bodyWithout, messageOf, type Ask, type Letter } from '$/state/letter';
import {
	EMPTY,
	grow,
	joined,
	leafOf,
	pathThrough,
	questionOf,
	rated,
	type Place,
	type Tree
} from '$/state/tree';
import { backOff, type Pause } from '$/turn/pause';
import { Turn } from '$/turn/turn.svelte';

export type { Ask } from '$/state/letter';

/** A message that is being said differently. */
export interface Editing {
	id: string;
	text: string;
	/** Why the server did not take it. */
	problem: Failure | null;
}

export class Conversation {
	/** What went wrong with the last thing the person tried. */
	problem = $state.raw<Failure | null>(null);
	/** `unreachable` becomes `open` by itself, as soon as the server answers. */
	state = $state<'loading' | 'open' | 'missing' | 'unreachable'>('open');
	turn = $state.raw<Turn | null>(null);
	editing = $state<Editing | null>(null);
	/** How it lay when it was opened. The lists know more, once they have come to it. */
	isPinned = $state(false);
	isArchived = $state(false);

	#id = $state<string | null>(null);
	#title = $state('');
	#stored = $state.raw<Tree>(EMPTY);
	#current = $state<string | null>(null);
	/** What the server has not taken yet. It is shown as if it had. */
	#saying = $state.raw<Letter | null>(null);
	/** Whether the server may know more of this than we do, and is being asked. */
	#isStale = $state(false);

	/** Null until the server has given it one, with the first words of the first turn. */
	id = $derived(this.#id ?? this.turn?.conversationId ?? null);
	title = $derived(this.turn?.title ?? this.#title);
	isAnswering = $derived(this.#saying !== null || (this.turn?.isRunning ?? false));
	isWaiting = $derived(this.isAnswering && this.turn?.answer == null);
	/** A message that waits for the connection to come back. */
	queued = $derived.by(() => (this.#saying === null ? this.#delivery.waitingIn(this.id) : null));
	/** Whether something can be said now. */
	canSay = $derived(this.state === 'open' && !this.isAnswering && this.queued === null);
	/** Whether what waits here may go out: what it follows is known, and is over. */
	isAtRest = $derived(
		this.state !== 'loading' && this.state !== 'unreachable' && !this.isAnswering && !this.#isStale
	);

	#tree = $derived.by(() => {
		// Rebuilt when the turn adds a message, not when a message grows: `message` reads the words.
		void this.turn?.messageIds;
		const said = this.#saying === null ? [] : [messageOf(this.#saying)];
		return [...said, ...untrack(() => this.turn?.messages ?? [])].reduce(grow, this.#stored);
	});
	path = $derived(pathThrough(this.#tree, this.#saying?.id ?? this.#current, this.isWaiting));
	/** What the model had before it and wrote, by its last answer here. Null if nobody counted. */
	numContextTokens = $derived.by(() => {
		const answer = this.path.slice(-2).findLast(({ ids }) => this.#usage(ids) !== null);
		const usage = answer === undefined ? null : this.#usage(answer.ids);
		return usage === null ? null : usage.num_input_tokens + usage.num_output_tokens;
	});

	#api: Api;
	#draft: Draft;
	#delivery: Delivery;
	#pause: Pause;
	#left = new AbortController();
	/** A message the server may have heard is sent again under the same id, so it is said once. */
	#unsent: Letter | null = null;

	constructor(
		api: Api,
		id: string | null,
		drafts: Drafts,
		delivery: Delivery,
		pause: Pause = backOff
	) {
		this.#api = api;
		this.#id = id;
		this.#draft = new Draft(drafts, () => this.id);
		this.#delivery = delivery;
		this.#pause = pause;
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

	/** Fetches what is stored, and goes on with the turn that is running. */
	async load(): Promise<void> {
		let running = await this.#fetch();
		for (let tries = 0; this.state === 'unreachable'; tries++) {
			await this.#pause(tries, this.#left.signal);
			if (this.#left.signal.aborted) return;
			running = await this.#fetch();
		}
		if (running?.turnId != null) this.#follow(running.turnId);
	}

	/** Says what is in the draft, after the last message. */
	async send(ask: Ask): Promise<void> {
		const text = this.draft;
		if (text.trim() === '' || !this.canSay) return;
		const letter = this.#letter(text, leafOf(this.path), ask);
		this.draft = '';
		await this.#say(letter);
	}

	/** Says the message that is being edited: a new branch beside the old one. */
	async edit(ask: Ask): Promise<void> {
		if (this.editing === null || this.editing.text.trim() === '' || !this.canSay) return;
		const { id, text } = this.editing;
		const parent = this.#tree.get(id)?.parent ?? null;
		this.editing = null;
		await this.#say({ ...this.#letter(text, parent, ask), edits: id });
	}

	/** Takes the message that waits back to where it was written. */
	unqueue(): void {
		const letter = this.queued === null ? null : this.#delivery.takeBack(this.queued.id);
		if (letter !== null) this.#takeBack(letter, null);
	}

	/** Shows a letter that is on its way here, and the answer to it. */
	async watch(letter: Letter, turn: Turn): Promise<void> {
		this.#saying = letter;
		await this.#run(turn);
	}

	/** Told of every letter. True if this is where its answer is shown. */
	settle(letter: Letter, fate: Fate): boolean {
		const isShown = this.#saying?.id === letter.id;
		if (!isShown && letter.conversationId !== this.id) return false;
		if (isShown) this.#saying = null;
		switch (fate.kind) {
			case 'taken':
				if (isShown) this.#keep(messageOf(letter));
				else void this.load();
				break;
			case 'heard':
				if (isShown) this.#id = fate.conversationId;
				void this.load();
				break;
			case 'returned':
				this.#takeBack(letter, fate.failure);
				break;
			case 'waiting':
				break;
			default:
				fate satisfies never;
		}
		return isShown;
	}

	/** Asks for another answer to the message before this one. */
	async answerAgain(answerId: string, ask: Ask): Promise<void> {
		const question = questionOf(this.#tree, answerId);
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
		if (text.trim() === '' || this.isAnswering || this.state !== 'open') return null;
		const letter = this.#letter(text, leafOf(this.path), ask);
		try {
			return await this.#api.weigh(bodyOf(letter), signal);
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

	/** Nobody looks at it any more. A running turn goes on without us, and so does a letter. */
	leave(): void {
		this.#draft.flush();
		this.#left.abort();
		if (this.#saying === null) this.turn?.leave();
	}

	/** Fetches what is stored, and which turn is running. Null if that could not be done. */
	async #fetch(): Promise<{ turnId: string | null } | null> {
		if (this.id === null) return null;
		if (this.#stored.size === 0 && this.state === 'open') this.state = 'loading';
		try {
			const detail = await this.#api.conversation(this.id);
			this.#title = detail.title;
			this.isPinned = detail.is_pinned;
			this.isArchived = detail.is_archived;
			this.#stored = new Map(Object.entries(detail.mapping));
			this.#current = detail.current_node;
			this.state = 'open';
			this.problem = null;
			return { turnId: detail.running?.turn_exchange_id ?? null };
		} catch (error) {
			const failure = failureOf(error);
			const isGone = error instanceof ApiError && error.status === 404;
			if (this.#stored.size > 0 && !isGone) return null;
			this.problem = failure;
			this.state = isGone ? 'missing' : 'unreachable';
			return null;
		}
	}

	/** Fetches what is stored, as soon as that can be done, and ends the turn that was `cut`. */
	async #fetchAgain(cut: Turn | null): Promise<void> {
		this.#isStale = true;
		let running: { turnId: string | null } | null = null;
		for (let tries = 0; running === null && this.state === 'open'; tries++) {
			if (tries > 0 || cut !== null) await this.#pause(tries, this.#left.signal);
			if (this.#left.signal.aborted) return;
			running = await this.#fetch();
		}
		this.#isStale = false;
		// What was read of it here is less than what is stored.
		if (this.turn === cut) this.turn = null;
		const turnId = running?.turnId ?? null;
		if (turnId === null || this.#left.signal.aborted) return;
		if (turnId === cut?.id && this.id !== null) {
			await this.#attempt(this.#api.stop(this.id, turnId));
		}
		this.#follow(turnId);
	}

	/** Goes on with a turn that is running, unless that is being done. */
	#follow(turnId: string): void {
		if (this.id === null || this.#left.signal.aborted || this.isAnswering) return;
		void this.#run(new Turn(this.#api, { turnId, conversationId: this.id }));
	}

	async #say(letter: Letter): Promise<void> {
		const turn = new Turn(this.#api, { body: bodyOf(letter) });
		await Promise.all([this.watch(letter, turn), this.#delivery.send(letter, turn)]);
	}

	#letter(text: string, parent: string | null, ask: Ask): Letter {
		const id = this.#unsent?.text === text ? this.#unsent.id : newId();
		return { id, text, conversationId: this.id, parent, edits: null, ask, isWaiting: false };
	}

	#keep(message: Message): void {
		this.#stored = grow(this.#stored, message);
		this.#current = message.id;
		this.#unsent = null;
	}

	/** Words that were not said go back to where they were written, if nothing else is there. */
	#takeBack(letter: Letter, failure: Failure | null): void {
		this.#unsent = letter;
		if (letter.edits !== null && this.editing === null && this.reveal(letter.edits)) {
			this.editing = { id: letter.edits, text: letter.text, problem: failure };
		} else {
			this.problem = failure;
			this.#draft.giveBack(letter.text);
		}
	}

	async #ask(action: 'variant' | 'continue', parent: string, ask: Ask): Promise<void> {
		if (this.state !== 'open' || this.isAnswering) return;
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
		if (outcome === 'doubtful') this.turn = null;
		if (outcome !== 'whole') void this.#fetchAgain(outcome === 'cut' ? turn : null);
		return true;
	}

	#mark(messageId: string, feedback: Feedback | null): void {
		const message = this.message(messageId);
		if (message === null) return;
		const marked = rated(message, feedback);
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

	#usage(ids: string[]) {
		return this.message(ids.at(-1) ?? '')?.metadata.usage ?? null;
	}
}
