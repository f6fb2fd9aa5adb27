import { describe, expect, it } from 'vitest';
import { isMac, labelKeys } from '$/ui/keycaps';
import { ui as german } from '$/words/de/ui';
import { ui as english } from '$/words/en/ui';

describe('The keys of a shortcut', () => {
	it('are symbols on a Mac', () => {
		expect(labelKeys('mod+shift+o', english.keys, true)).toEqual(['⌘', '⇧', 'O']);
	});
	it('are words elsewhere, in the language of the page', () => {
		expect(labelKeys('mod+shift+o', english.keys, false)).toEqual(['Ctrl', 'Shift', 'O']);
		expect(labelKeys('mod+k', german.keys, false)).toEqual(['Strg', 'K']);
		expect(labelKeys('backspace', german.keys, false)).toEqual(['Rücktaste']);
	});
	it('can be single characters, arrows and the plus key', () => {
		expect(labelKeys('?', english.keys, false)).toEqual(['?']);
		expect(labelKeys('ArrowUp', english.keys, false)).toEqual(['↑']);
		expect(labelKeys('F2', english.keys, false)).toEqual(['F2']);
		expect(labelKeys('+', english.keys, false)).toEqual(['+']);
		expect(labelKeys('mod++', english.keys, false)).toEqual(['Ctrl', '+']);
	});
	it('recognise a Mac, an iPhone and other machines', () => {
		expect(isMac({ platform: 'MacIntel' })).toBe(true);
		expect(isMac({ platform: 'iPhone' })).toBe(true);
		expect(isMac({ platform: 'Linux x86_64' })).toBe(false);
	});
});
