/** What is told under an answer of what the model saw besides the newest messages. Pure. */
import type { ChangedMemory, Section, Seen, Source } from '$/api/events.gen';

/** What became of the older messages. Each of them is counted once. */
export interface Left {
	numSummarised: number;
	numRecalled: number;
	numDropped: number;
}

/** Null where the model saw everything. `ids` are the messages on the way to the answer. */
export function leftOf(seen: Seen, ids: string[]): Left | null {
	const numRecalled = 2 * seen.recalled.length;
	const numDropped = seen.num_dropped_messages;
	const numBefore = seen.starts_at === null ? 0 : Math.max(0, ids.indexOf(seen.starts_at));
	const hasSummary = seen.summaries.length > 0;
	const numSummarised = hasSummary ? Math.max(0, numBefore - numRecalled - numDropped) : 0;
	const isAll = numSummarised + numRecalled + numDropped === 0;
	return isAll ? null : { numSummarised, numRecalled, numDropped };
}

/** What came and went because somebody asked for it, and what is only offered. */
export function changesOf({ changed }: Seen): {
	made: ChangedMemory[];
	suggested: ChangedMemory[];
} {
	const newest = [...new Map(changed.map((one) => [one.memory_id, one])).values()];
	return {
		made: newest.filter(({ change }) => change !== 'suggested'),
		suggested: newest.filter(({ change }) => change === 'suggested')
	};
}

/** Whether somebody asked to have something remembered or forgotten. What came of it, `changed` says. */
export function isWish({ prompts }: Seen): boolean {
	return prompts.some(({ name }) => name === 'memory_done');
}

/** How much of the window came from where: the same source counted together, in the order of the prompt. */
export function sharesOf(
	sections: Section[]
): { source: Source; numTokens: number; share: number }[] {
	const counted = new Map<Source, number>();
	for (const { source, num_tokens } of sections) {
		if (num_tokens > 0) counted.set(source, (counted.get(source) ?? 0) + num_tokens);
	}
	const total = [...counted.values()].reduce((sum, one) => sum + one, 0);
	return [...counted].map(([source, numTokens]) => ({
		source,
		numTokens,
		share: numTokens / total
	}));
}
