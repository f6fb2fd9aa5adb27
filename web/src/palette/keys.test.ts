// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { isTyping, matches } from '$/palette/keys';

function press(key: string, more: KeyboardEventInit = {}): KeyboardEvent {
	return new KeyboardEvent('keydown', { key, ...more });
}

test('mod is Control, and on a Mac Command', () => {
	expect(matches(press('k', { ctrlKey: true }), 'mod+k', false)).toBe(true);
	expect(matches(press('k', { metaKey: true }), 'mod+k', true)).toBe(true);
	expect(matches(press('k', { metaKey: true }), 'mod+k', false)).toBe(false);
	expect(matches(press('k', { ctrlKey: true }), 'mod+k', true)).toBe(false);
});

test('a key more or less is another shortcut', () => {
	expect(matches(press('O', { ctrlKey: true, shiftKey: true }), 'mod+shift+o', false)).toBe(true);
	expect(matches(press('o', { ctrlKey: true }), 'mod+shift+o', false)).toBe(false);
	expect(matches(press('K', { ctrlKey: true, shiftKey: true }), 'mod+k', false)).toBe(false);
	expect(matches(press('k', { ctrlKey: true, altKey: true }), 'mod+k', false)).toBe(false);
	expect(matches(press('k'), 'mod+k', false)).toBe(false);
});

test('a sign counts whether or not the keyboard wants Shift for it', () => {
	expect(matches(press('?', { shiftKey: true }), '?')).toBe(true);
	expect(matches(press('?'), '?')).toBe(true);
	expect(matches(press('/'), '?')).toBe(false);
});

test('on a keyboard without Latin letters the place of the key counts', () => {
	const russian = press('л', { code: 'KeyK', ctrlKey: true });
	expect(matches(russian, 'mod+k', false)).toBe(true);
	const dvorak = press('t', { code: 'KeyK', ctrlKey: true });
	expect(matches(dvorak, 'mod+k', false)).toBe(false);
});

test('keys with names have no case', () => {
	expect(matches(press('F2'), 'f2')).toBe(true);
	expect(matches(press('Escape'), 'escape')).toBe(true);
});

test('while a word is composed nothing is a shortcut', () => {
	expect(matches(press('?', { isComposing: true }), '?')).toBe(false);
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
	let seen: boolean | null = null;
	const look = (event: Event) => (seen = isTyping(event));
	addEventListener('keydown', look);
	document.body.firstElementChild?.dispatchEvent(
		new KeyboardEvent('keydown', { key: '?', bubbles: true, composed: true })
	);
	removeEventListener('keydown', look);

	expect(seen).toBe(expected);
});
