/**
 * The conversation on the screen, and everything a person can do to it. It puts together what is
 * stored of it, what they say in it (`Saying`) and the turn that is read in it (`Following`).
 */
import { untrack } from 'svelte';
import { failureOf, type Api } from '$/api/client';
import { backOff, type Pause } from '$/api/pause';
import type { Feedback, Message, Share } from '$/api/wire';
import type { Delivery, Fate } from '$/state/delivery.svelte';
import { Draft } from '$/state/draft.svelte';
import type { Drafts } from '$/state/drafts';
import { Following } from '$/state/following.svelte';
import { newId } from '$/state/id';
import { bodyWithout, messageOf, type Ask, type Letter } from '$/state/letter';
import { Saying, type Editing } from '$/state/saying.svelte';
import { Stored } from '$/state/stored.svelte';
import { grow, joined, leafOf, pathThrough, questionOf, rated, type Place } from '$/state/tree';
import { Turn } from '$/turn/turn.svelte';

export type { Ask } from '$/state/letter';

export class Conversation {
	state = $derived.by(() => this.#stored.state);
	problem = $derived.by(() => this.#following.problem ?? this.#stored.problem);
	isWaiting = $derived.by(() => this.isAnswering && this.turn?.answer == null);
	/** Whether something can be said now. */
	canSay = $derived.by(() => this.state === 'open' && !this.isAnswering && this.queued === null);

	#tree = $derived.by(() => {
		// Rebuilt when the turn adds a message, not when a message grows: `message` reads the words.
		void this.turn?.messageIds;
		const { letter } = this.#saying;
		const said = letter === null ? [] : [messageOf(letter)];
		return [...said, ...untrack(() => this.turn?.messages ?? [])].reduce(grow, this.#stored.tree);
	});
	path = $derived.by(() =>
		pathThrough(this.#tree, this.#saying.letter?.id ?? this.#stored.current, this.isWaiting)
	);
	/** What the model had before it and wrote, by its last answer here. Null if nobody counted. */
	numContextTokens = $derived.by(() => {
		const answer = this.path.slice(-2).findLast(({ ids }) => this.#usage(ids) !== null);
		const usage = answer === undefined ? null : this.#usage(answer.ids);
		return usage === null ? null : usage.num_input_tokens + usage.num_output_tokens;
	});

	#api: Api;
	#stored: Stored;
	#draft: Draft;
	#following: Following;
	#saying: Saying;
	#left = new AbortController();

	constructor(
		api: Api,
		id: string | null,
		drafts: Drafts,
		delivery: Delivery,
		pause: Pause = backOff
	) {
		this.#api = api;
		this.#stored = new Stored(api, id, pause, this.#left.signal);
		const isSaying = () => this.#saying.letter !== null;
		this.#following = new Following(api, this.#stored, isSaying, this.#left.signal);
		this.#draft = new Draft(
			drafts,
			() => this.id,
			() => !this.isTemporary
		);
		this.#saying = new Saying(api, this, this.#stored, this.#following, delivery, this.#draft);
		addEventListener('pagehide', () => this.#draft.flush(), { signal: this.#left.signal });
	}

	get id(): string | null {
		return this.#following.id;
	}
	get title(): string {
		return this.#following.title;
	}
	get turn(): Turn | null {
		return this.#following.turn;
	}
	get isAnswering(): boolean {
		return this.#following.isAnswering;
	}
	get isAtRest(): boolean {
		return this.#following.isAtRest;
	}
	get queued(): Letter | null {
		return this.#saying.queued;
	}

	get editing(): Editing | null {
		return this.#saying.editing;
	}
	set editing(editing: Editing | null) {
		this.#saying.editing = editing;
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

	get isTemporary(): boolean {
		return this.#stored.isTemporary;
	}
	/** Only one that has not begun can become temporary. */
	set isTemporary(isTemporary: boolean) {
		if (this.id !== null || this.path.length > 0) return;
		this.#stored.isTemporary = isTemporary;
		this.#draft.flush();
	}

	message(id: string): Message | null {
		return this.turn?.messages.find((m) => m.id === id) ?? this.#tree.get(id)?.message ?? null;
	}

	/** What stands at a place, as one message. */
	read({ ids }: Place): Message | null {
		return joined(ids.flatMap((id) => this.message(id) ?? []));
	}

	/** Called when an answer that was read is not the one that is stored. */
	set ondiffers(told: () => void) {
		this.#following.ondiffers = told;
	}

	load = (): Promise<void> => this.#following.load();
	hearOf = (turnId: string): Promise<void> => this.#following.hearOf(turnId);
	catchUp = (): Promise<void> => this.#following.catchUp();

	send = (ask: Ask): Promise<void> => this.#saying.send(ask);
	edit = (ask: Ask): Promise<void> => this.#saying.edit(ask);
	unqueue = (): void => this.#saying.unqueue();
	watch = (letter: Letter, turn: Turn): Promise<void> => this.#saying.watch(letter, turn);
	settle = (letter: Letter, fate: Fate): boolean => this.#saying.settle(letter, fate);

	/** Whether a letter is here already: the server has taken it, and we were not told. */
	holds({ id }: Letter): boolean {
		return this.#saying.letter?.id !== id && this.#tree.has(id);
	}

	parentOf(id: string): string | null {
		return this.#tree.get(id)?.parent ?? null;
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
		if (this.#saying.letter === null) this.turn?.leave();
	}

	async #ask(action: 'variant' | 'continue', parent: string, ask: Ask): Promise<void> {
		if (this.state !== 'open' || this.isAnswering) return;
		const before = this.#stored.current;
		this.#stored.current = parent;
		const body = bodyWithout(action, parent, ask, this.id);
		const turn = new Turn(this.#api, { body, key: newId() });
		if (await this.#following.run(turn)) return;
		this.#stored.current = before;
		this.#following.problem = turn.failure;
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
			this.#following.problem = failureOf(error);
			return false;
		}
	}

	#usage(ids: string[]) {
		return this.message(ids.at(-1) ?? '')?.metadata.usage ?? null;
	}
}
