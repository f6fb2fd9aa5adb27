import { expect, test } from 'vitest';
import { Extents } from '$/chat/extents';

function laid(...heights: number[]): Extents {
	const extents = new Extents();
	extents.lay(
		heights.map((_, i) => `r${i}`),
		(id) => heights[Number(id.slice(1))] ?? 0
	);
	return extents;
}

test('rows lie one below the other', () => {
	const extents = laid(10, 20, 30);

	expect([0, 1, 2, 3].map((place) => extents.topOf(place))).toEqual([0, 10, 30, 60]);
	expect(extents.total).toBe(60);
});

test('the row at a height is found, and the ends beyond the ends', () => {
	const extents = laid(10, 20, 30);

	expect([-5, 0, 9, 10, 29, 30, 59, 99].map((y) => extents.placeAt(y))).toEqual([
		0, 0, 0, 1, 1, 2, 2, 2
	]);
});

test('a row that turns out higher moves what is below it', () => {
	const extents = laid(10, 20, 30);
	expect(extents.total).toBe(60);

	expect(extents.measure('r1', 50)).toBe(true);
	expect(extents.measure('r1', 50)).toBe(false);
	expect([1, 2, 3].map((place) => extents.topOf(place))).toEqual([10, 60, 90]);
});

test('a row that comes back is as high as it was', () => {
	const extents = laid(10, 20);
	extents.measure('r1', 70);
	extents.lay(['r0'], () => 10);
	extents.lay(['r0', 'r1'], () => 10);

	expect(extents.total).toBe(80);
});

test('an empty list has no height', () => {
	const extents = new Extents();

	expect(extents.total).toBe(0);
	expect(extents.placeAt(100)).toBe(0);
	expect(extents.placeOf('r0')).toBe(-1);
});
