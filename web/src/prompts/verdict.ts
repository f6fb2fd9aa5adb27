/** The verdict of a comparison in words, and the layout of its interval bars. */
import type { Difference, ExperimentReport, Mean, Measure } from '$/api/wire';
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

export function describeVerdict(
	{ variants, differences, min_people }: ExperimentReport['outcome'],
	t: PromptWords['report']
): string[] {
	const tooSmall = variants.filter(({ num_people }) => num_people < min_people);
	if (tooSmall.length > 0) {
		const counts = tooSmall.map(({ version, num_people }) => t.has(version, num_people));
		return [t.tooFew(min_people, counts.join(', '))];
	}
	const first = variants[0]?.version ?? 0;
	const sentences = differences.flatMap((difference) => describeDifference(difference, first, t));
	return sentences.length === 0 ? [t.unclear] : sentences;
}

function describeDifference(
	{ version, measure, low, high, verdict }: Difference,
	first: number,
	t: PromptWords['report']
): string[] {
	if (verdict === 'unclear') return [];
	const [least, most] = [Math.abs(low), Math.abs(high)].sort((one, other) => one - other);
	const by = t.by[measure](least ?? 0, most ?? 0);
	return [t.differs(version, first, t.is[verdict], t.measures[measure], by)];
}

/** The 95 % confidence interval, cut at zero: no measure is negative. Null if unknown. */
export function clampInterval({ low, high }: Mean): [low: number, high: number] | null {
	return low === null || high === null ? null : [Math.max(0, low), high];
}

/** In percent of the width. */
export interface Bar {
	start: number;
	width: number;
	mark: number;
}

/** Lays the bars of one measure out on one scale: shares from 0 to 1, others from the least to the largest value. */
export function layOutBars(measure: Measure, means: (Mean | undefined)[]): (Bar | null)[] {
	const known = means.filter((mean) => mean !== undefined);
	const values = known.flatMap((mean) => [mean.value, ...(clampInterval(mean) ?? [])]);
	const isShare = SHARES.includes(measure);
	const [least, most] = isShare ? [0, 1] : [Math.min(...values), Math.max(...values)];
	const position = (value: number) =>
		most === least ? 50 : (100 * (value - least)) / (most - least);
	return means.map((mean) => {
		if (mean === undefined) return null;
		const [low, high] = clampInterval(mean) ?? [mean.value, mean.value];
		return {
			start: position(low),
			width: position(high) - position(low),
			mark: position(mean.value)
		};
	});
}
