/** The sections of the settings, in their order. The address names one: `#settings/<section>`. */
import type { Me } from '$/api/wire';
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
	| 'reviews'
	| 'safety'
	| 'everyone'
	| 'prices'
	| 'prompts'
	| 'comparisons'
	| 'activity';

type Role = Me['user']['role'];

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
	{ name: 'limits', icon: 'settings' },
	{ name: 'safety', icon: 'shield' },
	{ name: 'reviews', icon: 'list' },
	{ name: 'everyone', icon: 'chart' },
	{ name: 'prices', icon: 'coins' },
	{ name: 'prompts', icon: 'text' },
	{ name: 'comparisons', icon: 'look' },
	{ name: 'activity', icon: 'clock' }
];

/** The sections of a role besides the personal ones. */
export function listMore(role: Role): Entry[] {
	if (role === 'admin') return ADMINISTRATION;
	return role === 'reviewer' ? ADMINISTRATION.filter(({ name }) => name === 'reviews') : [];
}

/** Returns the section the address names if this person may open it, else the first one. */
export function findSection(name: string | null, role: Role): Section {
	const allowed = [...PERSONAL, ...listMore(role)];
	return allowed.find((entry) => entry.name === name)?.name ?? 'account';
}
