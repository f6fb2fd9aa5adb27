import { describe, expect, it } from 'vitest';
import { findByPrefix } from '$/ui/typeahead';

const LABELS = ['Pin', 'Rename', 'Remove', 'Äpfel', 'Delete'];

describe('Typing in a menu', () => {
	it('moves to the next label that starts with the letter', () => {
		expect(findByPrefix('d', LABELS, 0)).toBe(4);
		expect(findByPrefix('R', LABELS, 0)).toBe(1);
	});
	it('moves on with the same letter, and wraps around', () => {
		expect(findByPrefix('r', LABELS, 1)).toBe(2);
		expect(findByPrefix('rr', LABELS, 2)).toBe(1);
	});
	it('stays on a label that still matches more letters', () => {
		expect(findByPrefix('re', LABELS, 1)).toBe(1);
		expect(findByPrefix('rem', LABELS, 1)).toBe(2);
	});
	it('matches letters of every language', () => {
		expect(findByPrefix('ä', LABELS, 0)).toBe(3);
	});
	it('finds nothing if no label matches', () => {
		expect(findByPrefix('x', LABELS, 0)).toBeNull();
		expect(findByPrefix('x', [], -1)).toBeNull();
	});
});
