import { expect, test } from 'vitest';
import { placeAfter } from '$/ui/walk';

test('arrows lead to the neighbours, and no further than the ends', () => {
	expect(placeAfter('ArrowRight', 0, 3, 'ltr')).toBe(1);
	expect(placeAfter('ArrowDown', 2, 3, 'ltr')).toBe(2);
	expect(placeAfter('ArrowLeft', 0, 3, 'ltr')).toBe(0);
	expect(placeAfter('ArrowUp', 2, 3, 'ltr')).toBe(1);
	expect(placeAfter('End', 0, 3, 'ltr')).toBe(2);
	expect(placeAfter('Home', 2, 3, 'ltr')).toBe(0);
});

test('left leads onward where text runs from right to left', () => {
	expect(placeAfter('ArrowLeft', 0, 3, 'rtl')).toBe(1);
	expect(placeAfter('ArrowRight', 1, 3, 'rtl')).toBe(0);
});

test('other keys lead nowhere', () => {
	expect(placeAfter('a', 0, 3, 'ltr')).toBeUndefined();
});
