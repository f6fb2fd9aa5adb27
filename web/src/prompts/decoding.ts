/** The decoding of a prompt: what an administrator set, on top of the shipped values. */
import type { Sampling } from '$/api/events.gen';
import {
	PARAMETERS,
	NUM_BEAMS,
	findProblem,
	parseSampling,
	type Parameter,
	type Policy
} from '$/state/sampling';
import type { SettingsWords } from '$/words/settings';

export type FieldTexts = Record<Parameter, string>;

/** The server refuses these together with beam search. */
const NOT_WITH_BEAM = [
	...['presence_penalty', 'frequency_penalty', 'repeat_penalty'],
	...['logit_bias', 'json_schema']
];

/** The texts of the form's fields; empty where the shipped value applies. */
export function toFieldTexts(sampling: Sampling | null): FieldTexts {
	const toText = (name: Parameter) => String(sampling?.[name] ?? '');
	return Object.fromEntries(PARAMETERS.map((name) => [name, toText(name)])) as FieldTexts;
}

/** The value that applies if a field is empty; null if the model decides. */
export function getDefaultValue(
	shipped: Sampling,
	name: Parameter,
	policy: Policy,
	t: SettingsWords['chat']
): number | null {
	const value = shipped[name] ?? (name === 'num_beams' ? NUM_BEAMS : null);
	return findProblem(name, String(value ?? ''), t, policy) === null ? value : null;
}

/** Combines the form's values with those set by other means (`before`). Null if nothing is set. */
export function buildSampling(
	texts: FieldTexts,
	policy: Policy,
	before: Sampling | null,
	t: SettingsWords['chat']
): Partial<Sampling> | null {
	const sampling = { ...pickOtherSettings(before, policy), ...parseSampling(texts, t, policy) };
	const isEmpty = policy === 'sample' && Object.keys(sampling).length === 1;
	return isEmpty ? null : sampling;
}

function pickOtherSettings(sampling: Sampling | null, policy: Policy): Partial<Sampling> {
	const excluded = ['policy', ...PARAMETERS, ...(policy === 'beam' ? NOT_WITH_BEAM : [])];
	const set = Object.entries(sampling ?? {}).filter(([, value]) => value !== null);
	return Object.fromEntries(set.filter(([name]) => !excluded.includes(name)));
}
