// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { isTyping, matchesShortcut } from '$/palette/shortcuts';

function press(key: string, more: KeyboardEventInit = {}): KeyboardEvent {
	return new KeyboardEvent('keydown', { key, ...more });
}

test('mod is Control, and on a Mac Command', () => {
	expect(matchesShortcut(press('k', { ctrlKey: true }), 'mod+k', false)).toBe(true);
	expect(matchesShortcut(press('k', { metaKey: true }), 'mod+k', true)).toBe(true);
	expect(matchesShortcut(press('k', { metaKey: true }), 'mod+k', false)).toBe(false);
	expect(matchesShortcut(press('k', { ctrlKey: true }), 'mod+k', true)).toBe(false);
});

test('an additional or missing modifier does not match', () => {
	expect(matchesShortcut(press('O', { ctrlKey: true, shiftKey: true }), 'mod+shift+o', false)).toBe(
		true
	);
	expect(matchesShortcut(press('o', { ctrlKey: true }), 'mod+shift+o', false)).toBe(false);
	expect(matchesShortcut(press('K', { ctrlKey: true, shiftKey: true }), 'mod+k', false)).toBe(
		false
	);
	expect(matchesShortcut(press('k', { ctrlKey: true, altKey: true }), 'mod+k', false)).toBe(false);
	expect(matchesShortcut(press('k'), 'mod+k', false)).toBe(false);
});

test('a symbol matches with or without Shift', () => {
	expect(matchesShortcut(press('?', { shiftKey: true }), '?')).toBe(true);
	expect(matchesShortcut(press('?'), '?')).toBe(true);
	expect(matchesShortcut(press('/'), '?')).toBe(false);
});

test('on a keyboard without Latin letters the position of the key counts', () => {
	const russian = press('л', { code: 'KeyK', ctrlKey: true });
	expect(matchesShortcut(russian, 'mod+k', false)).toBe(true);
	const dvorak = press('t', { code: 'KeyK', ctrlKey: true });
	expect(matchesShortcut(dvorak, 'mod+k', false)).toBe(false);
});

test('named keys ignore case', () => {
	expect(matchesShortcut(press('F2'), 'f2')).toBe(true);
	expect(matchesShortcut(press('Escape'), 'escape')).toBe(true);
});

test('nothing matches while an input method is composing', () => {
	expect(matchesShortcut(press('?', { isComposing: true }), '?')).toBe(false);
});

test.each([
	['<textarea></textarea>', true],
	['<input type="search">', true],
	['<input>', true],
	['<select></select>', true],
	['<div contenteditable></div>', true],
	['<input type="checkbox">', false],
	['<button></button>', false],
	['<a href="/">x</a>', false]
])('a key in %s is typing: %s', (html, expected) => {
	document.body.innerHTML = html;
	let result: boolean | null = null;
	const listener = (event: Event) => (result = isTyping(event));
	addEventListener('keydown', listener);
	document.body.firstElementChild?.dispatchEvent(
		new KeyboardEvent('keydown', { key: '?', bubbles: true, composed: true })
	);
	removeEventListener('keydown', listener);

	expect(result).toBe(expected);
});
