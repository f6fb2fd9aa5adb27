/** What a person is about in the list of messages. It outlives the rows, which come and go. */
import { MediaQuery } from 'svelte/reactivity';
import type { Message } from '$/api/wire';
import { Voice } from '$/chat/voice.svelte';
import type { Ask, Conversation } from '$/state/conversation.svelte';
import type { Desk } from '$/state/desk.svelte';

export class Talk {
	/** The message that is being said differently. */
	edit = $state<{ id: string; text: string } | null>(null);
	/** The message somebody was led to, for a moment. */
	markedId = $state<string | null>(null);
	readonly voice = new Voice();
	/** A phone has no room for every button. */
	readonly narrow = new MediaQuery('max-width: 30rem');
	/** Called when what was pressed goes away, and the focus with it. */
	onfocuslost: () => void = () => undefined;

	constructor(
		readonly desk: Desk,
		readonly conversation: Conversation,
		readonly oninspect: (turnId: string) => void
	) {}

	/** Whether a message could be said now. */
	get canSay(): boolean {
		return !this.conversation.isAnswering && this.conversation.queued === null;
	}

	sendEdit(message: Message): void {
		if (this.edit === null || !this.canSay) return;
		void this.conversation.edit(message, this.edit.text, this.desk.ask);
		this.cancelEdit();
	}

	cancelEdit(): void {
		this.edit = null;
		this.onfocuslost();
	}

	/** `differently` is what is not asked for as always. */
	answerAgain(answerId: string, differently: Partial<Ask> = {}): void {
		void this.conversation.answerAgain(answerId, { ...this.desk.ask, ...differently });
		this.onfocuslost();
	}

	answer(questionId: string): void {
		void this.conversation.answer(questionId, this.desk.ask);
		this.onfocuslost();
	}

	goOn(answerId: string): void {
		void this.conversation.goOn(answerId, this.desk.ask);
		this.onfocuslost();
	}
}
