/** What is printed on the keys of `mod+shift+o`, on a Mac and elsewhere. */
import type { Words } from '$/words/words';

export function isMac(navigator: { platform: string }): boolean {
	return /mac|iphone|ipad/i.test(navigator.platform);
}

const ON_A_MAC: Record<string, string> = {
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

export function keycaps(keys: string, named: Words['ui']['keys'], isOnMac: boolean): string[] {
	const printed: Record<string, string> = {
		...ARROWS,
		...named,
		mod: named.ctrl,
		...(isOnMac ? ON_A_MAC : {})
	};
	return keys
		.split(/\+(?=.)/)
		.map((key) => printed[key.toLowerCase()] ?? (key.length === 1 ? key.toUpperCase() : key));
}
