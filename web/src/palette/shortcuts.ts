/** Matches key events against shortcuts such as `mod+shift+o`, `?` or `f2` (see `Action.keys`). */
import { isMac } from '$/ui/keycaps';

type KeyEvent = Pick<
	KeyboardEvent,
	'key' | 'code' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey' | 'isComposing'
>;

/** Whether exactly these keys were pressed. `mod` is Command on a Mac, Control elsewhere. */
export function matchesShortcut(
	event: KeyEvent,
	keys: string,
	isOnMac = isMac(navigator)
): boolean {
	if (event.isComposing) return false;
	const parts = keys.toLowerCase().split('+');
	const key = parts.at(-1) ?? '';
	const needs = (name: string) => parts.slice(0, -1).includes(name);
	return (
		event.metaKey === (isOnMac && needs('mod')) &&
		event.ctrlKey === (needs('ctrl') || (!isOnMac && needs('mod'))) &&
		event.altKey === needs('alt') &&
		(event.shiftKey === needs('shift') || isSymbol(key)) &&
		isKey(event, key)
	);
}

/** Symbols ignore Shift: `?` needs it on some keyboards only. */
function isSymbol(key: string): boolean {
	return key.length === 1 && !/[\p{L}\p{N}]/u.test(key);
}

/** On a keyboard without Latin letters, compares the position of the key. */
function isKey({ key, code }: KeyEvent, wanted: string): boolean {
	if (key.toLowerCase() === wanted) return true;
	const isNonLatin = key.length === 1 && key > '\u007f';
	return isNonLatin && code === `Key${wanted.toUpperCase()}`;
}

/** Whether the key types into a field, where plain-key shortcuts must not act. */
export function isTyping(event: Event): boolean {
	const target = event.composedPath()[0] ?? event.target;
	if (!(target instanceof HTMLElement)) return false;
	if (target instanceof HTMLInputElement) return !NON_TEXT_TYPES.includes(target.type);
	return target.matches('textarea, select, [contenteditable]:not([contenteditable=false])');
}

const NON_TEXT_TYPES = ['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'file', 'color'];
