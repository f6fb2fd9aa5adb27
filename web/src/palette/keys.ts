/** Which keys were pressed, in the terms of `Action.keys`: `mod+shift+o`, `?`, `f2`. */
import { isMac } from '$/ui/keycaps';

type Pressed = Pick<
	KeyboardEvent,
	'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey' | 'isComposing'
>;

/** Whether these keys, and no others, were pressed. `mod` is Command on a Mac, Control elsewhere. */
export function matches(event: Pressed, keys: string, isOnMac = isMac(navigator)): boolean {
	if (event.isComposing) return false;
	const wanted = keys.toLowerCase().split('+');
	const key = wanted.at(-1) ?? '';
	const needs = (name: string) => wanted.slice(0, -1).includes(name);
	return (
		event.metaKey === (isOnMac && needs('mod')) &&
		event.ctrlKey === (needs('ctrl') || (!isOnMac && needs('mod'))) &&
		event.altKey === needs('alt') &&
		(event.shiftKey === needs('shift') || isSign(key)) &&
		isKey(event, key)
	);
}

/** Where a sign lies differs: `?` needs Shift on one keyboard and not on another. */
function isSign(key: string): boolean {
	return key.length === 1 && !/[\p{L}\p{N}]/u.test(key);
}

/** On a keyboard without Latin letters, the key in the same place counts. */
function isKey({ key, code }: Pressed, wanted: string): boolean {
	if (key.toLowerCase() === wanted) return true;
	const isForeign = key.length === 1 && key > '\u007f';
	return isForeign && code === `Key${wanted.toUpperCase()}`;
}

/** Whether the key goes into a field. Shortcuts without Control or Command must leave it alone. */
export function isTyping(event: Event): boolean {
	const target = event.composedPath()[0] ?? event.target;
	if (!(target instanceof HTMLElement)) return false;
	if (target instanceof HTMLInputElement) return !NOT_WRITTEN_IN.includes(target.type);
	return target.matches('textarea, select, [contenteditable]:not([contenteditable=false])');
}

const NOT_WRITTEN_IN = ['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'file', 'color'];
