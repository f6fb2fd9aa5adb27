/**
 * What a person says in the open conversation: from where it is written to its place among the
 * messages, or back. Brought to the server by `Delivery`; the answer is read by `Following`.
 */
import type { Api } from '$/api/client';
import type { Failure } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import type { Delivery, Fate } from '$/state/delivery.svelte';
import type { Draft } from '$/state/draft.svelte';
import type { Following } from '$/state/following.svelte';
import { newId } from '$/state/id';
import { bodyOf, messageOf, type Ask, type Letter } from '$/state/letter';
import type { Stored } from '$/state/stored.svelte';
import { leafOf } from '$/state/tree';
import { Turn } from '$/turn/turn.svelte';

/** A message that is being said differently. */
export interface Editing {
	id: string;
	text: string;
	/** Why the server did not take it. */
	problem: Failure | null;
}

/** What is before their eyes. */
type Shown = Pick<Conversation, 'id' | 'path' | 'canSay' | 'parentOf' | 'reveal'>;

export class Saying {
	/** What the server has not taken yet. It is shown as if it had. */
	letter = $state.raw<Letter | null>(null);
	editing = $state<Editing | null>(null);
	/** A message that waits for the connection to come back. */
	queued = $derived.by(() =>
		this.letter === null ? this.#delivery.waitingIn(this.#shown.id) : null
	);

	#api: Api;
	#shown: Shown;
	#stored: Stored;
	#following: Following;
	#delivery: Delivery;
	#draft: Draft;
	/** A message the server may have heard is sent again under the same id, so it is said once. */
	#unsent: Letter | null = null;

	constructor(
		api: Api,
		shown: Shown,
		stored: Stored,
		following: Following,
		delivery: Delivery,
		draft: Draft
	) {
		this.#api = api;
		this.#shown = shown;
		this.#stored = stored;
		this.#following = following;
		this.#delivery = delivery;
		this.#draft = draft;
	}

	/** Says what is in the draft, after the last message. */
	async send(ask: Ask): Promise<void> {
		const { text } = this.#draft;
		if (text.trim() === '' || !this.#shown.canSay) return;
		const letter = this.#letter(text, leafOf(this.#shown.path), ask);
		this.#draft.text = '';
		await this.#say(letter);
	}

	/** Says the message that is being edited: a new branch beside the old one. */
	async edit(ask: Ask): Promise<void> {
		if (this.editing === null || this.editing.text.trim() === '' || !this.#shown.canSay) return;
		const { id, text } = this.editing;
		this.editing = null;
		await this.#say({ ...this.#letter(text, this.#shown.parentOf(id), ask), edits: id });
	}

	/** Takes the message that waits back to where it was written. */
	unqueue(): void {
		const letter = this.queued === null ? null : this.#delivery.takeBack(this.queued.id);
		if (letter !== null) this.#takeBack(letter, null);
	}

	/** Shows a letter that is on its way here, and the answer to it. */
	async watch(letter: Letter, turn: Turn): Promise<void> {
		this.letter = letter;
		await this.#following.run(turn);
	}

	/** Told of every letter. True if this is where its answer is shown. */
	settle(letter: Letter, fate: Fate): boolean {
		const isShown = this.letter?.id === letter.id;
		if (!isShown && letter.conversationId !== this.#shown.id) return false;
		if (isShown) this.letter = null;
		switch (fate.kind) {
			case 'taken':
				if (isShown) this.#keep(letter);
				if (!isShown || this.#stored.isStale) void this.#following.load();
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

	async #say(letter: Letter): Promise<void> {
		const turn = new Turn(this.#api, { body: bodyOf(letter) });
		await Promise.all([this.watch(letter, turn), this.#delivery.send(letter, turn)]);
	}

	#letter(text: string, parent: string | null, ask: Ask): Letter {
		const conversationId = this.#shown.id;
		const { isTemporary } = this.#stored;
		const letter = { text, conversationId, parent, edits: null, ask, isWaiting: false };
		const said = isTemporary ? { ...letter, isTemporary } : letter;
		const before = this.#unsent;
		const again = { ...said, id: before?.id ?? newId() };
		return before !== null && isSame(again, before) ? again : { ...said, id: newId() };
	}

	#keep(letter: Letter): void {
		this.#stored.grow([messageOf(letter)]);
		this.#stored.current = letter.id;
		this.#unsent = null;
	}

	/** Words that were not said go back to where they were written, if nothing else is there. */
	#takeBack(letter: Letter, failure: Failure | null): void {
		this.#unsent = letter;
		if (letter.edits !== null && this.editing === null && this.#shown.reveal(letter.edits)) {
			this.editing = { id: letter.edits, text: letter.text, problem: failure };
		} else {
			this.#following.problem = failure;
			this.#draft.giveBack(letter.text);
		}
	}
}

/** Whether the server would be asked for the same. */
function isSame(letter: Letter, other: Letter): boolean {
	return JSON.stringify(bodyOf(letter)) === JSON.stringify(bodyOf(other));
}
