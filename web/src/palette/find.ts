/** What of all there is a few typed letters mean. Accents and case do not matter. */
import type { Action } from '$/state/action';

/** Actions in whose label or other words all typed words stand; the closest come first. */
export function findActions(actions: readonly Action[], query: string): Action[] {
	return actions
		.filter(({ label, also = '' }) => hasWords(`${label} ${also}`, query))
		.map((action) => ({ action, rank: rankOf(action, query) }))
		.toSorted((a, b) => a.rank - b.rank)
		.map(({ action }) => action);
}

export function hasWords(text: string, query: string): boolean {
	const plain = fold(text);
	return fold(query)
		.split(/\s+/)
		.every((word) => plain.includes(word));
}

/** It begins with what was typed, or a word of it does, or it is in there somewhere. */
function rankOf({ label }: Action, query: string): number {
	const [plain, typed] = [fold(label), fold(query).trim()];
	if (plain.startsWith(typed)) return 0;
	if (plain.includes(` ${typed}`)) return 1;
	return plain.includes(typed) ? 2 : 3;
}

function fold(text: string): string {
	return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
