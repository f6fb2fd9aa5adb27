/**
 * How somebody can have answers decoded: the policy, the numbers that go with it, the ranges the
 * server takes, and what they typed.
 */
import type { Sampling } from '$/api/events.gen';
import { number } from '$/settings/format';
import type { Words } from '$/words/words';

export type Policy = NonNullable<Sampling['policy']>;
export const POLICIES: Policy[] = ['sample', 'greedy', 'beam'];

export type Name =
	'temperature' | 'top_p' | 'top_k' | 'min_p' | 'num_beams' | 'max_tokens' | 'seed';

interface Range {
	least: number;
	most: number;
	isWhole: boolean;
	/** The least itself is not allowed. */
	isAbove?: boolean;
}

const RANGES: Record<Name, Range> = {
	temperature: { least: 0, most: 2, isWhole: false },
	top_p: { least: 0, most: 1, isWhole: false, isAbove: true },
	top_k: { least: 0, most: 1_000, isWhole: true },
	min_p: { least: 0, most: 1, isWhole: false },
	num_beams: { least: 2, most: 8, isWhole: true },
	max_tokens: { least: 1, most: 1_048_576, isWhole: true },
	seed: { least: 0, most: 2 ** 32 - 2, isWhole: true }
};
/** How many answers a beam search follows, if not said. */
export const NUM_BEAMS = 4;
/** Every token of a beam search is weighed once for each beam. */
const MAX_BEAM_TOKENS: Range = { least: 1, most: 512, isWhole: true };

export const NAMES = Object.keys(RANGES) as Name[];
/** The numbers that mean something under a policy. The others are not sent with it. */
export const NAMES_OF: Record<Policy, Name[]> = {
	sample: NAMES.filter((name) => name !== 'num_beams'),
	greedy: ['max_tokens'],
	beam: ['num_beams', 'max_tokens']
};

function rangeIn(name: Name, policy: Policy): Range {
	return policy === 'beam' && name === 'max_tokens' ? MAX_BEAM_TOKENS : RANGES[name];
}

export function rangeOf(
	name: Name,
	t: Words['settings']['chat'],
	policy: Policy = 'sample'
): string {
	const { least, most, isAbove } = rangeIn(name, policy);
	return (isAbove ? t.above : t.range)(number(least), number(most));
}

/** What is wrong with what was typed, or null. Nothing typed leaves it to the model. */
export function problemWith(
	name: Name,
	typed: string,
	t: Words['settings']['chat'],
	policy: Policy = 'sample'
): string | null {
	if (typed.trim() === '') return null;
	const { least, most, isWhole, isAbove } = rangeIn(name, policy);
	const value = valueOf(typed);
	if (!Number.isFinite(value)) return t.notANumber;
	if (isWhole && !Number.isInteger(value)) return t.notWhole;
	const isIn = (isAbove ? value > least : value >= least) && value <= most;
	return isIn ? null : t.outOfRange(rangeOf(name, t, policy));
}

/** What was chosen and typed, as what the next message asks for: without what is empty or wrong. */
export function samplingOf(
	typed: Record<Name, string>,
	t: Words['settings']['chat'],
	policy: Policy = 'sample'
): Partial<Sampling> {
	const good = NAMES_OF[policy].filter(
		(name) => typed[name].trim() !== '' && problemWith(name, typed[name], t, policy) === null
	);
	const numbers = Object.fromEntries(good.map((name) => [name, valueOf(typed[name])]));
	return { policy, ...numbers };
}

/** Half the world writes 0,7. */
function valueOf(typed: string): number {
	return Number(typed.trim().replace(',', '.'));
}
