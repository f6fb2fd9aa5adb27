/**
 * The conversation on the screen: what is stored of it, the turn that is running in it, and
 * everything a person can do to it. What they say is brought to the server by `Delivery`.
 */
import { untrack } from 'svelte';
import { failureOf, type Api } from '$/api/client';
import type { Failure, Feedback, Message, Share } from '$/api/wire';
import type { Delivery, Fate } from '$/state/delivery.svelte';
import { Draft } from '$/state/draft.svelte';
import type { Drafts } from '$/state/drafts';
import { newId } from '$/state/id';
import { bodyOf, bodyWithout, messageOf, type Ask, type Letter } from '$/state/letter';
import { Stored } from '$/state/stored.svelte';
import { grow, joined, leafOf, pathThrough, questionOf, rated, type Place } from '$/state/tree';
import { backOff, type Pause } from '$/turn/pause';
import { Turn, type Outcome } from '$/turn/turn.svelte';

export type { Ask } from '$/state/letter';

/** A message that is being said differently. */
export interface Editing {
	id: string;
	text: string;
	/** Why the server did not take it. */
	problem: Failure | null;
}

export class Conversation {
	turn = $state.raw<Turn | null>(null);
	editing = $state<Editing | null>(null);
	/** Called when an answer that was read is not the one that is stored. */
	ondiffers: () => void = () => undefined;

	#stored: Stored;
	/** What the server has not taken yet. It is shown as if it had. */
	#saying = $state.raw<Letter | null>(null);
	/** What went wrong with the last thing the person tried. */
	#problem = $state.raw<Failure | null>(null);

	state = $derived.by(() => this.#stored.state);
	problem = $derived.by(() => this.#problem ?? this.#stored.problem);
	/** Null until the server has given it one, with the first words of the first turn. */
	id = $derived.by(() => this.#stored.id ?? this.turn?.conversationId ?? null);
	title = $derived.by(() => this.turn?.title ?? this.#stored.title);
	isAnswering = $derived(this.#saying !== null || (this.turn?.isRunning ?? false));
	isWaiting = $derived(this.isAnswering && this.turn?.answer == null);
	/** A message that waits for the connection to come back. */
	queued = $derived.by(() => (this.#saying === null ? this.#delivery.waitingIn(this.id) : null));
	/** Whether something can be said now. */
	canSay = $derived(this.state === 'open' && !this.isAnswering && this.queued === null);
	/** Whether what waits here may go out: what it follows is known, and is over. */
	isAtRest = $derived.by(() => !this.isAnswering && !this.#stored.isStale);

	#tree = $derived.by(() => {
		// Rebuilt when the turn adds a message, not when a message grows: `message` reads the words.
		void this.turn?.messageIds;
		const said = this.#saying === null ? [] : [messageOf(this.#saying)];
		return [...said, ...untrack(() => this.turn?.messages ?? [])].reduce(grow, this.#stored.tree);
	});
	path = $derived.by(() =>
		pathThrough(this.#tree, this.#saying?.id ?? this.#stored.current, this.isWaiting)
	);
	/** What the model had before it and wrote, by its last answer here. Null if nobody counted. */
	numContextTokens = $derived.by(() => {
		const answer = this.path.slice(-2).findLast(({ ids }) => this.#usage(ids) !== null);
		const usage = answer === undefined ? null : this.#usage(answer.ids);
		return usage === null ? null : usage.num_input_tokens + usage.num_output_tokens;
	});

	#api: Api;
	#draft: Draft;
	#delivery: Delivery;
	#left = new AbortController();
	/** A message the server may have heard is sent again under the same id, so it is said once. */
	#unsent: Letter | null = null;
	/** Something was said elsewhere while we were reading. */
	#hasMissed = false;
	/** A turn whose stream cannot be made sense of. */
	#unreadable: string | null = null;

	constructor(
		api: Api,
		id: string | null,
		drafts: Drafts,
		delivery: Delivery,
		pause: Pause = backOff
	) {
		this.#api = api;
		this.#stored = new Stored(api, id, pause, this.#left.signal);
		this.#draft = new Draft(drafts, () => this.id);
		this.#delivery = delivery;
		addEventListener('pagehide', () => this.#draft.flush(), { signal: this.#left.signal });
	}

	get draft(): string {
		return this.#draft.text;
	}
	set draft(text: string) {
		this.#draft.text = text;
	}

	get isPinned(): boolean {
		return this.#stored.isPinned;
	}
	set isPinned(isPinned: boolean) {
		this.#stored.isPinned = isPinned;
	}
	get isArchived(): boolean {
		return this.#stored.isArchived;
	}
	set isArchived(isArchived: boolean) {
		this.#stored.isArchived = isArchived;
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
		this.#follow(await this.#stored.fetch());
	}

	/** A turn has begun or ended somewhere. Unless it is the one that is read here, that is new. */
	async hearOf(turnId: string): Promise<void> {
		const isSending = this.isAnswering && this.turn?.id == null;
		if (!isSending && this.turn?.id !== turnId) await this.catchUp();
	}

	/** Something may have been said elsewhere: it is fetched now, or after what is read here. */
	async catchUp(): Promise<void> {
		if (this.isAnswering) this.#hasMissed = true;
		else await this.load();
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
		this.#stored.current = id;
		const leaf = leafOf(this.path);
		if (this.id === null || leaf === null || this.isAnswering) return;
		await this.#attempt(this.#api.changeConversation(this.id, { current_node: leaf }));
	}

	/** Makes sure that a message is on the path. False if there is no such message. */
	reveal(id: string): boolean {
		if (!this.#tree.has(id)) return false;
		if (!this.path.some(({ ids }) => ids.includes(id))) this.#stored.current = id;
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

	/** The server has been told of its new title. */
	retitle(title: string): void {
		this.#stored.title = title;
		if (this.turn !== null) this.turn.title = null;
	}

	/** Nobody looks at it any more. A running turn goes on without us, and so does a letter. */
	leave(): void {
		this.#draft.flush();
		this.#left.abort();
		if (this.#saying === null) this.turn?.leave();
	}

	/** Goes on with a turn that is running, unless that is being done. */
	#follow(turnId: string | null): void {
		if (turnId === null || this.id === null || this.isAnswering) return;
		if (this.#left.signal.aborted || turnId === this.#unreadable) return;
		void this.#run(new Turn(this.#api, { turnId, conversationId: this.id }));
	}

	async #say(letter: Letter): Promise<void> {
		const turn = new Turn(this.#api, { body: bodyOf(letter) });
		await Promise.all([this.watch(letter, turn), this.#delivery.send(letter, turn)]);
	}

	#letter(text: string, parent: string | null, ask: Ask): Letter {
		const said = { text, conversationId: this.id, parent, edits: null, ask, isWaiting: false };
		const before = this.#unsent;
		const again = { ...said, id: before?.id ?? newId() };
		return before !== null && isSame(again, before) ? again : { ...said, id: newId() };
	}

	#keep(message: Message): void {
		this.#stored.grow([message]);
		this.#stored.current = message.id;
		this.#unsent = null;
	}

	/** Words that were not said go back to where they were written, if nothing else is there. */
	#takeBack(letter: Letter, failure: Failure | null): void {
		this.#unsent = letter;
		if (letter.edits !== null && this.editing === null && this.reveal(letter.edits)) {
			this.editing = { id: letter.edits, text: letter.text, problem: failure };
		} else {
			this.#problem = failure;
			this.#draft.giveBack(letter.text);
		}
	}

	async #ask(action: 'variant' | 'continue', parent: string, ask: Ask): Promise<void> {
		if (this.state !== 'open' || this.isAnswering) return;
		const before = this.#stored.current;
		this.#stored.current = parent;
		const body = bodyWithout(action, parent, ask, this.id);
		const turn = new Turn(this.#api, { body, key: newId() });
		if (await this.#run(turn)) return;
		this.#stored.current = before;
		this.#problem = turn.failure;
	}

	/** Reads a turn to its end. False if there was none, because the server did not take it. */
	async #run(turn: Turn): Promise<boolean> {
		this.#problem = null;
		this.#replace(turn);
		const outcome = await turn.run();
		if (outcome === 'left') return true;
		if (outcome === 'unsent') {
			this.#replace(null);
			return false;
		}
		this.#stored.id = this.id;
		this.#stored.grow(turn.messages);
		if (outcome !== 'whole') void this.#readAgain(turn, outcome);
		else if (this.#hasMissed) void this.load();
		this.#hasMissed = false;
		return true;
	}

	/** What was read of a turn is not all there is to know: what is stored counts. */
	async #readAgain(turn: Turn, outcome: Outcome): Promise<void> {
		if (outcome === 'differs') this.ondiffers();
		if (outcome === 'doubtful') this.#unreadable = turn.id;
		if (outcome !== 'cut') this.#replace(null);
		const running = await this.#stored.fetch();
		if (this.turn === turn) this.#replace(null);
		if (running !== null && running === turn.id && outcome === 'cut' && this.id !== null) {
			await this.#attempt(this.#api.stop(this.id, running));
		}
		this.#follow(running);
	}

	/** The one before may still listen for its title. */
	#replace(turn: Turn | null): void {
		this.#stored.title = this.title;
		const before = this.turn;
		this.turn = turn;
		if (before !== turn) before?.leave();
	}

	#mark(messageId: string, feedback: Feedback | null): void {
		const message = this.message(messageId);
		if (message === null) return;
		const marked = rated(message, feedback);
		this.#stored.grow([marked]);
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
			this.#problem = failureOf(error);
			return false;
		}
	}

	#usage(ids: string[]) {
		return this.message(ids.at(-1) ?? '')?.metadata.usage ?? null;
	}
}

/** Whether the server would be asked for the same. */
function isSame(letter: Letter, other: Letter): boolean {
	return JSON.stringify(bodyOf(letter)) === JSON.stringify(bodyOf(other));
}
