import { describe, expect, it } from 'vitest';
import { isMac, keycaps } from '$/ui/keycaps';
import { ui as german } from '$/words/de/ui';
import { ui as english } from '$/words/en/ui';

describe('The keys of a shortcut', () => {
	it('are those of a Mac on a Mac', () => {
		expect(keycaps('mod+shift+o', english.keys, true)).toEqual(['⌘', '⇧', 'O']);
	});
	it('are in words elsewhere, in the language of the page', () => {
		expect(keycaps('mod+shift+o', english.keys, false)).toEqual(['Ctrl', 'Shift', 'O']);
		expect(keycaps('mod+k', german.keys, false)).toEqual(['Strg', 'K']);
		expect(keycaps('backspace', german.keys, false)).toEqual(['Rücktaste']);
	});
	it('can be single signs, arrows and the plus key', () => {
		expect(keycaps('?', english.keys, false)).toEqual(['?']);
		expect(keycaps('ArrowUp', english.keys, false)).toEqual(['↑']);
		expect(keycaps('F2', english.keys, false)).toEqual(['F2']);
		expect(keycaps('+', english.keys, false)).toEqual(['+']);
		expect(keycaps('mod++', english.keys, false)).toEqual(['Ctrl', '+']);
	});
	it('know a Mac, a phone of the same make, and other machines', () => {
		expect(isMac({ platform: 'MacIntel' })).toBe(true);
		expect(isMac({ platform: 'iPhone' })).toBe(true);
		expect(isMac({ platform: 'Linux x86_64' })).toBe(false);
	});
});
