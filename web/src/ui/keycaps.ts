/** The key labels of a shortcut such as `mod+shift+o`, on a Mac and elsewhere. */
import type { Words } from '$/words/words';

export function isMac(navigator: { platform: string }): boolean {
	return /mac|iphone|ipad/i.test(navigator.platform);
}

const MAC_LABELS: Record<string, string> = {
	mod: '⌘',
	ctrl: '⌃',
	alt: '⌥',
	shift: '⇧',
	enter: '↩',
	escape: '⎋',
	tab: '⇥',
	backspace: '⌫',
	delete: '⌦'
};
const ARROWS: Record<string, string> = {
	arrowup: '↑',
	arrowdown: '↓',
	arrowleft: '←',
	arrowright: '→',
	up: '↑',
	down: '↓',
	left: '←',
	right: '→'
};

export function labelKeys(keys: string, names: Words['ui']['keys'], isOnMac: boolean): string[] {
	const labels: Record<string, string> = {
		...ARROWS,
		...names,
		mod: names.ctrl,
		...(isOnMac ? MAC_LABELS : {})
	};
	return keys
		.split(/\+(?=.)/)
		.map((key) => labels[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key));
}
