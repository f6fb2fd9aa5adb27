/**
 * Something a person can do from anywhere: by its keys, from the palette, or by writing
 * `/name` in an empty message. One list for all three, so none can forget one.
 */
import type { Drawing } from '$/ui/Icon.svelte';

export interface Action {
	id: string;
	label: string;
	icon: Drawing;
	/** Other words people look for it by. */
	also?: string;
	/** For example `mod+k`: `mod` is Command on a Mac and Control elsewhere. */
	keys?: string;
	/** What to write after `/` in the composer, the first of them shown; absent where that makes no sense. */
	slash?: string[];
	isAvailable?: () => boolean;
	run: () => void;
}

export function isAvailable(action: Action): boolean {
	return action.isAvailable?.() ?? true;
}
