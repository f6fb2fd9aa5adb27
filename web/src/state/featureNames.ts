/** What features and tools are called on the page. */
import type { Feature } from '$/api/wire';
import type { IconName } from '$/ui/Icon.svelte';
import { en } from '$/words/en';
import type { Words } from '$/words/words';

const ICONS: Record<string, IconName | undefined> = {
	calculator: 'calculator',
	time: 'clock',
	weather: 'sun',
	code: 'code',
	web: 'globe',
	conversations: 'chat',
	memory: 'bulb'
};

/** Features of other servers have the title that was given to the server. */
export function nameFeature({ name, title }: Feature, t: Words): string {
	return t.tools.features[name]?.name ?? (title === '' ? readable(name) : title);
}

export function describeFeature({ name, tools }: Feature, t: Words): string {
	return t.tools.features[name]?.about ?? tools.map((tool) => readable(tool.name)).join(', ');
}

export function pickFeatureIcon({ name, title }: Feature): IconName {
	return ICONS[name] ?? (title === '' ? 'tools' : 'plug');
}

/** The slash commands of a feature: in the page's language, and in English. */
export function listFeatureCommands(feature: Feature, t: Words): string[] {
	const known = [t, en].flatMap(({ tools }) => tools.features[feature.name]?.command ?? []);
	return known.length > 0 ? [...new Set(known)] : [toCommand(nameFeature(feature, t))];
}

const MAX_COMMAND_CHARS = 24;

function toCommand(name: string): string {
	const word = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '-');
	return word.slice(0, MAX_COMMAND_CHARS);
}

/** "read_page" as "Read page". */
export function readable(name: string): string {
	const words = name.replaceAll(/[_\s]+/g, ' ').trim();
	return words.charAt(0).toUpperCase() + words.slice(1);
}
