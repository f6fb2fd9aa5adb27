/** Describes how an answer ended, unless it ended normally. */
import type { Failure, Message } from '$/api/wire';
import { isUndecidedResult } from '$/state/answerParts';
import { isToolMessage } from '$/state/messageTree';
import type { Turn } from '$/turn/turn.svelte';
import { describeFailure } from '$/words/failure';
import type { Words } from '$/words/words';

export interface Ending {
	sentence: string;
	canRetry: boolean;
	/** Whether it can be continued from its last word. */
	canContinue: boolean;
}

type TurnState = Pick<Turn, 'isRunning' | 'isStopping' | 'isStoppedLocally' | 'failure'>;

/** `turn` is the turn that wrote the messages of the answer, if this page followed it. */
export function describeEnding(
	messages: Message[],
	turn: TurnState | null,
	t: Words
): Ending | null {
	const message = messages.at(-1);
	if (turn?.isRunning || message === undefined || isWaitingForPerson(message)) return null;
	const { ending } = t.chat;
	const { reason, message: storedMessage } = message.metadata.finish_details ?? {};
	// Says why itself, and nothing may follow it.
	if (reason === 'blocked') return null;
	const canContinue = hasTextToContinue(messages);
	switch (message.status) {
		case 'failed':
			return { ...describeFailedTurn(turn?.failure ?? null, t, storedMessage), canContinue };
		case 'in_progress':
			return turn?.isStoppedLocally
				? { sentence: ending.cut, canRetry: false, canContinue: false }
				: { sentence: ending.unfinished, canRetry: true, canContinue: false };
		case 'finished_partial_completion':
			return turn?.isStopping || reason === 'stopped'
				? { sentence: ending.stopped, canRetry: false, canContinue }
				: { sentence: ending.interrupted, canRetry: true, canContinue };
		case 'finished_successfully':
			if (reason === 'length') return { sentence: ending.length, canRetry: false, canContinue };
			if (!endsWithTools(message)) return null;
			return turn?.failure
				? describeFailedTurn(turn.failure, t)
				: { sentence: ending.noWords, canRetry: true, canContinue: false };
	}
}

/** The card of a call that was not decided says so itself. */
function isWaitingForPerson({ metadata }: Message): boolean {
	const { tool_result: result, finish_details: ending } = metadata;
	return result !== undefined && ending?.reason !== 'stopped' && isUndecidedResult(result);
}

/** Whether the model was to answer after tools, and did not. */
function endsWithTools(message: Message): boolean {
	const { finish_details: ending, tool_calls: calls } = message.metadata;
	const isCutBefore = ending?.reason === 'tool_calls' && calls?.some((call) => call.is_hosted);
	return isToolMessage(message) || isCutBefore === true;
}

/** Only what was said after the last tool can be continued. */
function hasTextToContinue(messages: Message[]): boolean {
	const texts = messages.slice(messages.findLastIndex(isToolMessage) + 1);
	return texts.some(({ content }) => (content.parts[0] ?? '') !== '');
}

/** `storedMessage` is the message the server stored with the failure. */
export function describeFailedTurn(
	failure: Failure | null,
	t: Words,
	storedMessage?: string
): Ending {
	const sentence =
		failure === null ? (storedMessage ?? t.chat.ending.failed) : describeFailure(failure, t);
	return { sentence, canRetry: true, canContinue: false };
}
