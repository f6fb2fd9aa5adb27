/** Reads the keys of the composer and of the message editor. */

/** Safari's key code for every key while an input method is composing. */
const COMPOSING_KEY_CODE = 229;

/** False on a touch screen, where Enter starts a new line because there is no Shift+Enter. */
export function hasKeyboard(): boolean {
	return matchMedia('(any-pointer: fine)').matches;
}

export function isComposing(event: KeyboardEvent): boolean {
	return event.isComposing || event.keyCode === COMPOSING_KEY_CODE;
}

export function isSendKey(event: KeyboardEvent): boolean {
	if (isComposing(event) || event.key !== 'Enter' || event.shiftKey || event.altKey) return false;
	return hasKeyboard() || event.ctrlKey || event.metaKey;
}

export function hasNoModifier(event: KeyboardEvent): boolean {
	return !(event.shiftKey || event.ctrlKey || event.altKey || event.metaKey);
}

export function isModifierKey({ key }: KeyboardEvent): boolean {
	return ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock'].includes(key);
}
