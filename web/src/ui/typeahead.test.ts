import { describe, expect, it } from 'vitest';
import { startingWith } from '$/ui/typeahead';

const LABELS = ['Pin', 'Rename', 'Remove', 'Äpfel', 'Delete'];

describe('Typing in a menu', () => {
	it('goes to the next label that begins with the letter', () => {
		expect(startingWith('d', LABELS, 0)).toBe(4);
		expect(startingWith('R', LABELS, 0)).toBe(1);
	});
	it('walks on with the same letter again, and around', () => {
		expect(startingWith('r', LABELS, 1)).toBe(2);
		expect(startingWith('rr', LABELS, 2)).toBe(1);
	});
	it('stays with more letters while they still fit', () => {
		expect(startingWith('re', LABELS, 1)).toBe(1);
		expect(startingWith('rem', LABELS, 1)).toBe(2);
	});
	it('knows letters of every language', () => {
		expect(startingWith('ä', LABELS, 0)).toBe(3);
	});
	it('finds nothing where nothing begins so', () => {
		expect(startingWith('x', LABELS, 0)).toBeNull();
		expect(startingWith('x', [], -1)).toBeNull();
	});
});
