/** The last answer of the conversation that is open at the time of the call. */
import type { Message } from '$/api/wire';
import { describeEnding } from '$/chat/answerEnding';
import type { Conversation } from '$/state/conversation.svelte';
import type { PathEntry } from '$/state/messageTree';
import type { Workspace } from '$/state/workspace.svelte';
import type { Words } from '$/words/words';

type OpenConversation = Pick<
	Conversation,
	| 'path'
	| 'messageAt'
	| 'messagesAt'
	| 'message'
	| 'turn'
	| 'isAnswering'
	| 'answer'
	| 'answerAgain'
>;

type AnswerOptions = Pick<Workspace, 'sendOptions' | 'repeatOptions'>;

export class LastAnswer {
	#conversation: () => OpenConversation;
	#t: Words;

	constructor(conversation: () => OpenConversation, t: Words) {
		this.#conversation = conversation;
		this.#t = t;
	}

	/** The id of the last message: an unanswered question, or the end of an answer. */
	get leafId(): string {
		return this.#open.path.at(-1)?.ids.at(-1) ?? '';
	}

	/** The text of the last answer that has any: one that failed early has nothing to copy or read. */
	get text(): string {
		return this.#answerWithText?.message.content.parts.join('') ?? '';
	}
	get textId(): string {
		return this.#answerWithText?.place.id ?? '';
	}

	/** The turn of the last answer that can be inspected. */
	get turnId(): string {
		const found = this.#findAnswer(({ metadata }) => metadata.turn_exchange_id !== undefined);
		return found?.message.metadata.turn_exchange_id ?? '';
	}

	get canContinue(): boolean {
		const { path, turn } = this.#open;
		const found = this.#findAnswer(() => true);
		if (found === null || found.place !== path.at(-1)) return false;
		const followed = turn?.lastMessage?.id === this.leafId ? turn : null;
		const messages = this.#open.messagesAt(found.place);
		return describeEnding(messages, followed, this.#t)?.canContinue ?? false;
	}

	async answerAgain({ sendOptions, repeatOptions }: AnswerOptions): Promise<void> {
		const isQuestion = this.#open.message(this.leafId)?.author.role === 'user';
		if (isQuestion) await this.#open.answer(this.leafId, sendOptions);
		else await this.#open.answerAgain(this.leafId, repeatOptions);
	}

	get #open(): OpenConversation {
		return this.#conversation();
	}

	get #answerWithText() {
		return this.#findAnswer(({ content }) => content.parts.some((part) => part !== ''));
	}

	/** Null while an answer is running. */
	#findAnswer(
		matches: (message: Message) => boolean
	): { place: PathEntry; message: Message } | null {
		const { path, isAnswering } = this.#open;
		for (const place of isAnswering ? [] : path.toReversed()) {
			const message = this.#open.messageAt(place);
			if (message?.author.role === 'assistant' && matches(message)) return { place, message };
		}
		return null;
	}
}
