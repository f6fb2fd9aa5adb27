/** The numbers somebody can choose themselves, the ranges the server takes, and what they typed. */
import type { Sampling } from '$/api/events.gen';
import { number } from '$/settings/format';
import type { Words } from '$/words/words';

export type Name = 'temperature' | 'top_p' | 'top_k' | 'min_p' | 'max_tokens' | 'seed';

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
	max_tokens: { least: 1, most: 1_048_576, isWhole: true },
	seed: { least: 0, most: 2 ** 32 - 2, isWhole: true }
};
export const NAMES = Object.keys(RANGES) as Name[];

export function rangeOf(name: Name, t: Words['settings']['chat']): string {
	const { least, most, isAbove } = RANGES[name];
	return (isAbove ? t.above : t.range)(number(least), number(most));
}

/** What is wrong with what was typed, or null. Nothing typed leaves it to the model. */
export function problemWith(
	name: Name,
	typed: string,
	t: Words['settings']['chat']
): string | null {
	if (typed.trim() === '') return null;
	const { least, most, isWhole, isAbove } = RANGES[name];
	const value = valueOf(typed);
	if (!Number.isFinite(value)) return t.notANumber;
	if (isWhole && !Number.isInteger(value)) return t.notWhole;
	const isIn = (isAbove ? value > least : value >= least) && value <= most;
	return isIn ? null : t.outOfRange(rangeOf(name, t));
}

/** What was typed, as what the next message asks for: without what is empty or wrong. */
export function samplingOf(
	typed: Record<Name, string>,
	t: Words['settings']['chat']
): Partial<Sampling> {
	const good = NAMES.filter(
		(name) => typed[name].trim() !== '' && problemWith(name, typed[name], t) === null
	);
	return Object.fromEntries(good.map((name) => [name, valueOf(typed[name])]));
}

/** Half the world writes 0,7. */
function valueOf(typed: string): number {
	return Number(typed.trim().replace(',', '.'));
}
