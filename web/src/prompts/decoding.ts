/** How what a prompt asks for is decoded: what an administrator set, over what comes with hitsend. */
import type { Sampling } from '$/api/events.gen';
import { NAMES, samplingOf, type Name, type Policy } from '$/settings/sampling';
import type { Words } from '$/words/words';

export type Typed = Record<Name, string>;

/** As it would have been typed. Nothing is what comes with hitsend. */
export function typedOf(sampling: Sampling | null): Typed {
	const isBeam = sampling?.policy === 'beam';
	const shown = (name: Name) =>
		name === 'num_beams' && !isBeam ? '' : String(sampling?.[name] ?? '');
	return Object.fromEntries(NAMES.map((name) => [name, shown(name)])) as Typed;
}

/** What can be set here, and whatever else was set by other means. Null where that is nothing. */
export function choiceOf(
	typed: Typed,
	policy: Policy,
	before: Sampling | null,
	t: Words['settings']['chat']
): Partial<Sampling> | null {
	const choice = { ...othersIn(before), ...samplingOf(typed, t, policy) };
	return Object.keys(choice).length === 0 ? null : choice;
}

function othersIn(sampling: Sampling | null): Partial<Sampling> {
	if (sampling === null) return {};
	const { stop, presence_penalty, frequency_penalty, repeat_penalty } = sampling;
	const others = { stop, presence_penalty, frequency_penalty, repeat_penalty };
	const isSet = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0);
	return Object.fromEntries(Object.entries(others).filter(([, value]) => isSet(value)));
}
