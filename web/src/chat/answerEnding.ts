/** Describes how an answer ended, unless it ended normally. */
import type { Failure, Message } from '$/api/wire';
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

/** `turn` is the turn that wrote the answer, if this page followed it. */
export function describeEnding(message: Message, turn: TurnState | null, t: Words): Ending | null {
	if (turn?.isRunning) return null;
	const { ending } = t.chat;
	const { reason, message: storedMessage } = message.metadata.finish_details ?? {};
	const canContinue = (message.content.parts[0] ?? '') !== '';
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
			return reason === 'length' ? { sentence: ending.length, canRetry: false, canContinue } : null;
	}
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
