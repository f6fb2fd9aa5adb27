/** The sections of the settings, in their order. The address names one: `#settings/<section>`. */
import type { IconName } from '$/ui/Icon.svelte';

export type Section =
	| 'account'
	| 'keys'
	| 'appearance'
	| 'chat'
	| 'profile'
	| 'memory'
	| 'tools'
	| 'usage'
	| 'shares'
	| 'data'
	| 'people'
	| 'groups'
	| 'invites'
	| 'models'
	| 'limits'
	| 'everyone'
	| 'prices'
	| 'prompts'
	| 'comparisons'
	| 'activity';

interface Entry {
	name: Section;
	icon: IconName;
}

export const PERSONAL: Entry[] = [
	{ name: 'account', icon: 'person' },
	{ name: 'keys', icon: 'key' },
	{ name: 'appearance', icon: 'sun' },
	{ name: 'chat', icon: 'chat' },
	{ name: 'profile', icon: 'edit' },
	{ name: 'memory', icon: 'bulb' },
	{ name: 'tools', icon: 'tools' },
	{ name: 'usage', icon: 'chart' },
	{ name: 'shares', icon: 'link' },
	{ name: 'data', icon: 'download' }
];
export const ADMINISTRATION: Entry[] = [
	{ name: 'people', icon: 'people' },
	{ name: 'groups', icon: 'group' },
	{ name: 'invites', icon: 'tag' },
	{ name: 'models', icon: 'cpu' },
	{ name: 'limits', icon: 'shield' },
	{ name: 'everyone', icon: 'chart' },
	{ name: 'prices', icon: 'coins' },
	{ name: 'prompts', icon: 'text' },
	{ name: 'comparisons', icon: 'look' },
	{ name: 'activity', icon: 'clock' }
];

/** Returns the section the address names if this person may open it, else the first one. */
export function findSection(name: string | null, isAdmin: boolean): Section {
	const allowed = isAdmin ? [...PERSONAL, ...ADMINISTRATION] : PERSONAL;
	return allowed.find((entry) => entry.name === name)?.name ?? 'account';
}
