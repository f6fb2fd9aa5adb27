/** How what a prompt asks for is decoded: what an administrator set, over what comes with hitsend. */
import type { Sampling } from '$/api/events.gen';
import {
	NAMES,
	NUM_BEAMS,
	problemWith,
	samplingOf,
	type Name,
	type Policy
} from '$/settings/sampling';
import type { Words } from '$/words/words';

export type Typed = Record<Name, string>;

/** What a beam search cannot keep to: the server refuses them together. */
const NOT_IN_BEAM = [
	...['presence_penalty', 'frequency_penalty', 'repeat_penalty'],
	...['logit_bias', 'json_schema']
];

/** As it would have been typed. Nothing is what comes with hitsend. */
export function typedOf(sampling: Sampling | null): Typed {
	const shown = (name: Name) => String(sampling?.[name] ?? '');
	return Object.fromEntries(NAMES.map((name) => [name, shown(name)])) as Typed;
}

/** What holds where a field is empty; null where the model decides. */
export function heldIn(
	shipped: Sampling,
	name: Name,
	policy: Policy,
	t: Words['settings']['chat']
): number | null {
	const value = shipped[name] ?? (name === 'num_beams' ? NUM_BEAMS : null);
	return problemWith(name, String(value ?? ''), t, policy) === null ? value : null;
}

/** What can be set here, and whatever else was set by other means. Null where that is nothing. */
export function choiceOf(
	typed: Typed,
	policy: Policy,
	before: Sampling | null,
	t: Words['settings']['chat']
): Partial<Sampling> | null {
	const choice = { ...othersIn(before, policy), ...samplingOf(typed, t, policy) };
	const isNothing = policy === 'sample' && Object.keys(choice).length === 1;
	return isNothing ? null : choice;
}

function othersIn(sampling: Sampling | null, policy: Policy): Partial<Sampling> {
	const left = ['policy', ...NAMES, ...(policy === 'beam' ? NOT_IN_BEAM : [])];
	const set = Object.entries(sampling ?? {}).filter(([, value]) => value !== null);
	return Object.fromEntries(set.filter(([name]) => !left.includes(name)));
}
