/** How an answer ended, in one honest sentence, when that needs saying. */
import type { Message } from '$/api/wire';
import type { Turn } from '$/turn/turn.svelte';

export interface Ending {
	sentence: string;
	/** Whether another try may go better. */
	isWorthATry: boolean;
}

type Live = Pick<Turn, 'isRunning' | 'isStopping' | 'failure'>;

/** `turn` is the one that wrote the answer, if it did so before our eyes. */
export function endingOf(message: Message, turn: Live | null): Ending | null {
	if (turn?.isRunning) return null;
	switch (message.status) {
		case 'failed':
			return failed(turn?.failure?.message ?? message.metadata.finish_details?.message ?? null);
		case 'in_progress':
			return { sentence: 'This answer was never finished.', isWorthATry: true };
		case 'finished_partial_completion':
			return turn?.isStopping || message.metadata.finish_details?.reason === 'stopped'
				? { sentence: 'You stopped this answer.', isWorthATry: false }
				: { sentence: 'This answer was cut short by a restart.', isWorthATry: true };
		case 'finished_successfully':
			return message.metadata.finish_details?.type === 'max_tokens'
				? { sentence: 'This answer reached the longest length allowed.', isWorthATry: false }
				: null;
	}
}

export function failed(why: string | null): Ending {
	const sentence = why ?? 'Something went wrong while answering. What was said is kept.';
	return { sentence, isWorthATry: true };
}
