/** The sampling settings a person can make: policies, parameters, their ranges, and parsing of what was typed. */
import type { Sampling } from '$/api/events.gen';
import { formatNumber } from '$/words/format';
import type { SettingsWords } from '$/words/settings';

export type Policy = NonNullable<Sampling['policy']>;
export const POLICIES: Policy[] = ['sample', 'greedy', 'beam'];

export type Parameter =
	'temperature' | 'top_p' | 'top_k' | 'min_p' | 'num_beams' | 'max_tokens' | 'seed';

interface Range {
	min: number;
	max: number;
	isWhole: boolean;
	/** Excludes the minimum itself. */
	isMinExcluded?: boolean;
}

const RANGES: Record<Parameter, Range> = {
	temperature: { min: 0, max: 2, isWhole: false },
	top_p: { min: 0, max: 1, isWhole: false, isMinExcluded: true },
	top_k: { min: 0, max: 1_000, isWhole: true },
	min_p: { min: 0, max: 1, isWhole: false },
	num_beams: { min: 2, max: 8, isWhole: true },
	max_tokens: { min: 1, max: 1_048_576, isWhole: true },
	seed: { min: 0, max: 2 ** 32 - 2, isWhole: true }
};
/** The default number of beams. */
export const NUM_BEAMS = 4;
/** Beam search is limited to short answers: it decodes every token once per beam. */
const MAX_BEAM_TOKENS: Range = { min: 1, max: 512, isWhole: true };

export const PARAMETERS = Object.keys(RANGES) as Parameter[];
/** The parameters of each policy. Others are not sent with it. */
export const PARAMETERS_OF: Record<Policy, Parameter[]> = {
	sample: PARAMETERS.filter((name) => name !== 'num_beams'),
	greedy: ['max_tokens'],
	beam: ['num_beams', 'max_tokens']
};

function getRange(name: Parameter, policy: Policy): Range {
	return policy === 'beam' && name === 'max_tokens' ? MAX_BEAM_TOKENS : RANGES[name];
}

export function describeRange(
	name: Parameter,
	t: SettingsWords['chat'],
	policy: Policy = 'sample'
): string {
	const { min, max, isMinExcluded } = getRange(name, policy);
	return (isMinExcluded ? t.above : t.range)(formatNumber(min), formatNumber(max));
}

/** Returns the problem with what was typed, or null. An empty field leaves the choice to the model. */
export function findProblem(
	name: Parameter,
	typed: string,
	t: SettingsWords['chat'],
	policy: Policy = 'sample'
): string | null {
	if (typed.trim() === '') return null;
	const { min, max, isWhole, isMinExcluded } = getRange(name, policy);
	const value = parseNumber(typed);
	if (!Number.isFinite(value)) return t.notANumber;
	if (isWhole && !Number.isInteger(value)) return t.notWhole;
	const isInRange = (isMinExcluded ? value > min : value >= min) && value <= max;
	return isInRange ? null : t.outOfRange(describeRange(name, t, policy));
}

/** Turns the form into the sampling of the next message. Leaves out empty and invalid fields. */
export function parseSampling(
	typed: Record<Parameter, string>,
	t: SettingsWords['chat'],
	policy: Policy = 'sample'
): Partial<Sampling> {
	const valid = PARAMETERS_OF[policy].filter(
		(name) => typed[name].trim() !== '' && findProblem(name, typed[name], t, policy) === null
	);
	const numbers = Object.fromEntries(valid.map((name) => [name, parseNumber(typed[name])]));
	return { policy, ...numbers };
}

/** Accepts a decimal comma. */
function parseNumber(typed: string): number {
	return Number(typed.trim().replace(',', '.'));
}
