/** What stands last in the conversation that is open, whichever that is when it is asked. */
import type { Message } from '$/api/wire';
import { endingOf } from '$/chat/ending';
import type { Ask, Conversation } from '$/state/conversation.svelte';
import type { Place } from '$/state/tree';
import type { Words } from '$/words/words';

type Open = Pick<
	Conversation,
	'path' | 'read' | 'message' | 'turn' | 'isAnswering' | 'answer' | 'answerAgain'
>;

export class Last {
	#conversation: () => Open;
	#t: Words;

	constructor(conversation: () => Open, t: Words) {
		this.#conversation = conversation;
		this.#t = t;
	}

	/** The last message: a question nobody answered, or the end of an answer. */
	get leaf(): string {
		return this.#open.path.at(-1)?.ids.at(-1) ?? '';
	}

	/** The last answer that has words: one that failed before its first is nothing to copy or read. */
	get words(): string {
		return this.#wordy?.message.content.parts.join('') ?? '';
	}
	get wordsId(): string {
		return this.#wordy?.place.id ?? '';
	}

	/** The turn of the last answer that can be looked into. */
	get turnId(): string {
		const found = this.#answerWith(({ metadata }) => metadata.turn_exchange_id !== undefined);
		return found?.message.metadata.turn_exchange_id ?? '';
	}

	get isCutShort(): boolean {
		const { path, turn } = this.#open;
		const found = this.#answerWith(() => true);
		if (found === null || found.place !== path.at(-1)) return false;
		const live = turn?.answer?.id === this.leaf ? turn : null;
		return endingOf(found.message, live, this.#t)?.isCutShort ?? false;
	}

	async answerAgain(ask: Ask): Promise<void> {
		const isQuestion = this.#open.message(this.leaf)?.author.role === 'user';
		if (isQuestion) await this.#open.answer(this.leaf, ask);
		else await this.#open.answerAgain(this.leaf, ask);
	}

	get #open(): Open {
		return this.#conversation();
	}

	get #wordy() {
		return this.#answerWith(({ content }) => content.parts.some((part) => part !== ''));
	}

	/** None while one is being written. */
	#answerWith(fits: (message: Message) => boolean): { place: Place; message: Message } | null {
		const { path, isAnswering } = this.#open;
		for (const place of isAnswering ? [] : path.toReversed()) {
			const message = this.#open.read(place);
			if (message?.author.role === 'assistant' && fits(message)) return { place, message };
		}
		return null;
	}
}
