/** How an answer ended, in one honest sentence, when that needs saying. */
import type { Failure, Message } from '$/api/wire';
import type { Turn } from '$/turn/turn.svelte';
import { sentenceOf } from '$/words/problem';
import type { Words } from '$/words/words';

export interface Ending {
	sentence: string;
	/** Whether another try may go better. */
	isWorthATry: boolean;
	/** Whether it can go on from its last word. */
	isCutShort: boolean;
}

type Live = Pick<Turn, 'isRunning' | 'isStopping' | 'isCut' | 'failure'>;

/** `turn` is the one that wrote the answer, if it did so before our eyes. */
export function endingOf(message: Message, turn: Live | null, t: Words): Ending | null {
	if (turn?.isRunning) return null;
	const { ending } = t.chat;
	const { reason, message: why } = message.metadata.finish_details ?? {};
	const isCutShort = (message.content.parts[0] ?? '') !== '';
	switch (message.status) {
		case 'failed':
			return { ...failed(turn?.failure ?? null, t, why), isCutShort };
		case 'in_progress':
			return turn?.isCut
				? { sentence: ending.cut, isWorthATry: false, isCutShort: false }
				: { sentence: ending.unfinished, isWorthATry: true, isCutShort: false };
		case 'finished_partial_completion':
			return turn?.isStopping || reason === 'stopped'
				? { sentence: ending.stopped, isWorthATry: false, isCutShort }
				: { sentence: ending.interrupted, isWorthATry: true, isCutShort };
		case 'finished_successfully':
			return reason === 'length'
				? { sentence: ending.length, isWorthATry: false, isCutShort }
				: null;
	}
}

/** `why` is what the server said when it stored the failure. */
export function failed(failure: Failure | null, t: Words, why?: string): Ending {
	const sentence = failure === null ? (why ?? t.chat.ending.failed) : sentenceOf(failure, t);
	return { sentence, isWorthATry: true, isCutShort: false };
}
