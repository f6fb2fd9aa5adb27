/** Matches actions against a query, ignoring accents and case. */
import type { Action } from '$/state/action';

/** The actions whose label or other words contain every word of the query, best matches first. */
export function findActions(actions: readonly Action[], query: string): Action[] {
	return actions
		.filter(({ label, also = '' }) => hasWords(`${label} ${also}`, query))
		.map((action) => ({ action, rank: rankAction(action, query) }))
		.toSorted((a, b) => a.rank - b.rank)
		.map(({ action }) => action);
}

export function hasWords(text: string, query: string): boolean {
	const folded = fold(text);
	return fold(query)
		.split(/\s+/)
		.every((word) => folded.includes(word));
}

/** 0 if the label starts with the query, 1 if a word of it does, 2 if it contains the query. */
function rankAction({ label }: Action, query: string): number {
	const [folded, typed] = [fold(label), fold(query).trim()];
	if (folded.startsWith(typed)) return 0;
	if (folded.includes(` ${typed}`)) return 1;
	return folded.includes(typed) ? 2 : 3;
}

function fold(text: string): string {
	return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}
