/** What a person is about in the list of messages. It outlives the rows, which come and go. */
import { MediaQuery } from 'svelte/reactivity';
import type { Voice } from '$/chat/voice.svelte';
import type { Ask, Conversation } from '$/state/conversation.svelte';
import type { Desk } from '$/state/desk.svelte';

export class Talk {
	/** The message somebody was led to, for a moment. */
	markedId = $state<string | null>(null);
	/** A phone has no room for every button. */
	readonly narrow = new MediaQuery('max-width: 30rem');
	/** Called when what was pressed goes away, and the focus with it. */
	onfocuslost: () => void = () => undefined;

	constructor(
		readonly desk: Desk,
		readonly conversation: Conversation,
		readonly voice: Voice,
		readonly oninspect: (turnId: string) => void
	) {}

	sendEdit(): void {
		void this.conversation.edit(this.desk.ask);
		this.onfocuslost();
	}

	cancelEdit(): void {
		this.conversation.editing = null;
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
