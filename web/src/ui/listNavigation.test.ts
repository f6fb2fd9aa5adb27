import { expect, test } from 'vitest';
import { findNextIndex } from '$/ui/listNavigation';

test('arrows move to the neighbours and stop at the ends', () => {
	expect(findNextIndex('ArrowRight', 0, 3, 'ltr')).toBe(1);
	expect(findNextIndex('ArrowDown', 2, 3, 'ltr')).toBe(2);
	expect(findNextIndex('ArrowLeft', 0, 3, 'ltr')).toBe(0);
	expect(findNextIndex('ArrowUp', 2, 3, 'ltr')).toBe(1);
	expect(findNextIndex('End', 0, 3, 'ltr')).toBe(2);
	expect(findNextIndex('Home', 2, 3, 'ltr')).toBe(0);
});

test('the left arrow moves forward in right-to-left text', () => {
	expect(findNextIndex('ArrowLeft', 0, 3, 'rtl')).toBe(1);
	expect(findNextIndex('ArrowRight', 1, 3, 'rtl')).toBe(0);
});

test('other keys do not move', () => {
	expect(findNextIndex('a', 0, 3, 'ltr')).toBeUndefined();
});
