/** Whether a comparison tells anything yet, in words; and where its intervals are drawn. */
import type { Difference, Mean, Measure, Report } from '$/prompts/calls';
import type { PromptWords } from '$/words/prompts';

export const MEASURES: Measure[] = [
	'liked',
	'declined',
	'answer_tokens',
	'input_tokens',
	'first_word_ms',
	'seconds'
];
const SHARES: Measure[] = ['liked', 'declined'];

export function verdictOf(
	{ variants, differences, min_people }: Report['outcome'],
	t: PromptWords['report']
): string[] {
	const few = variants.filter(({ num_people }) => num_people < min_people);
	if (few.length > 0) {
		const counted = few.map(({ version, num_people }) => t.has(version, num_people));
		return [t.tooFew(min_people, counted.join(', '))];
	}
	const first = variants[0]?.version ?? 0;
	const told = differences.flatMap((difference) => sentencesOf(difference, first, t));
	return told.length === 0 ? [t.unclear] : told;
}

function sentencesOf(
	{ version, measure, low, high, verdict }: Difference,
	first: number,
	t: PromptWords['report']
): string[] {
	if (verdict === 'unclear') return [];
	const [least, most] = [Math.abs(low), Math.abs(high)].sort((one, other) => one - other);
	const by = t.by[measure](least ?? 0, most ?? 0);
	return [t.differs(version, first, t.is[verdict], t.measures[measure], by)];
}

/** Where the truth lies 19 times in 20, where that is known. No measure is ever less than nothing. */
export function intervalOf({ low, high }: Mean): [low: number, high: number] | null {
	return low === null || high === null ? null : [Math.max(0, low), high];
}

/** In hundredths of the width. */
export interface Bar {
	start: number;
	width: number;
	mark: number;
}

/** All of a measure on one scale: shares from none to all, anything else as far as the bars reach. */
export function barsOf(measure: Measure, means: (Mean | undefined)[]): (Bar | null)[] {
	const known = means.filter((mean) => mean !== undefined);
	const reach = known.flatMap((mean) => [mean.value, ...(intervalOf(mean) ?? [])]);
	const isShare = SHARES.includes(measure);
	const [least, most] = isShare ? [0, 1] : [Math.min(...reach), Math.max(...reach)];
	const place = (value: number) => (most === least ? 50 : (100 * (value - least)) / (most - least));
	return means.map((mean) => {
		if (mean === undefined) return null;
		const [low, high] = intervalOf(mean) ?? [mean.value, mean.value];
		return { start: place(low), width: place(high) - place(low), mark: place(mean.value) };
	});
}
