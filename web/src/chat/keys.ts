/** Which keys send what is being written, wherever that is. */

/** While an input method is composing, Safari calls every key this. */
const COMPOSING_KEY_CODE = 229;

/** On a touch keyboard there is no Shift+Enter: Enter begins a line, and the button sends. */
export function hasKeyboard(): boolean {
	return matchMedia('(any-pointer: fine)').matches;
}

/** While an input method is composing, the keys belong to it. */
export function isComposing(event: KeyboardEvent): boolean {
	return event.isComposing || event.keyCode === COMPOSING_KEY_CODE;
}

export function isSend(event: KeyboardEvent): boolean {
	if (isComposing(event) || event.key !== 'Enter' || event.shiftKey || event.altKey) return false;
	return hasKeyboard() || event.ctrlKey || event.metaKey;
}

export function isPlain(event: KeyboardEvent): boolean {
	return !(event.shiftKey || event.ctrlKey || event.altKey || event.metaKey);
}

/** One that does nothing by itself. */
export function isModifier({ key }: KeyboardEvent): boolean {
	return ['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock'].includes(key);
}
