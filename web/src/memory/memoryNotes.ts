/** Reads the notes below an answer out of what the model saw. Pure. */
import type { ChangedMemory, Section, Seen, Source } from '$/api/events.gen';
import type { OlderMessages } from '$/words/en/chat';

/**
 * Counts each message before the context window once; null if the model saw all of them.
 * `ids` are the messages on the path to the answer.
 */
export function countOlderMessages(seen: Seen, ids: string[]): OlderMessages | null {
	const numRecalled = 2 * seen.recalled.length;
	const numDropped = seen.num_dropped_messages;
	const numBefore = seen.starts_at === null ? 0 : Math.max(0, ids.indexOf(seen.starts_at));
	const hasSummary = seen.summaries.length > 0;
	const numSummarised = hasSummary ? Math.max(0, numBefore - numRecalled - numDropped) : 0;
	const sawAll = numSummarised + numRecalled + numDropped === 0;
	return sawAll ? null : { numSummarised, numRecalled, numDropped };
}

/** Separates memories that were added or removed from those only suggested. The last change of a memory counts. */
export function splitChanges({ changed }: Seen): {
	made: ChangedMemory[];
	suggested: ChangedMemory[];
} {
	const newest = [...new Map(changed.map((one) => [one.memory_id, one])).values()];
	return {
		made: newest.filter(({ change }) => change !== 'suggested'),
		suggested: newest.filter(({ change }) => change === 'suggested')
	};
}

/** Whether the person asked to remember or forget something. `changed` says with which result. */
export function isMemoryRequest({ prompts }: Seen): boolean {
	return prompts.some(({ name }) => name === 'memory_done');
}

/** Adds up the tokens of each source of the context window, in the order of the prompt. */
export function countBySource(
	sections: Section[]
): { source: Source; numTokens: number; share: number }[] {
	const counts = new Map<Source, number>();
	for (const { source, num_tokens } of sections) {
		if (num_tokens > 0) counts.set(source, (counts.get(source) ?? 0) + num_tokens);
	}
	const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
	return [...counts].map(([source, numTokens]) => ({
		source,
		numTokens,
		share: numTokens / total
	}));
}
