/** An action that is available by a shortcut, in the palette, and as a slash command. */
import type { IconName } from '$/ui/Icon.svelte';
import type { Words } from '$/words/words';

export interface Action {
	id: string;
	label: string;
	icon: IconName;
	/** Search terms besides the label. */
	also?: string;
	/** For example `mod+k`. `mod` is Command on a Mac and Control elsewhere. */
	keys?: string;
	/** Its slash commands. The first one is shown. */
	slash?: string[];
	isAvailable?: () => boolean;
	run: () => void;
}

export function isAvailable(action: Action): boolean {
	return action.isAvailable?.() ?? true;
}

/** Its slash commands: in the page's language, and in English. */
export function listSlashNames(
	name: keyof Words['workspace']['slash'],
	t: Words['workspace']
): string[] {
	return [...new Set([t.slash[name], name])];
}
