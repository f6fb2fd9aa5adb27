import { expect, test } from 'vitest';
import { RowHeights } from '$/chat/rowHeights';

function heightsOf(...heights: number[]): RowHeights {
	const rowHeights = new RowHeights();
	rowHeights.setRows(
		heights.map((_, i) => `r${i}`),
		(id) => heights[Number(id.slice(1))] ?? 0
	);
	return rowHeights;
}

test('each row starts where the one before ends', () => {
	const rowHeights = heightsOf(10, 20, 30);

	expect([0, 1, 2, 3].map((index) => rowHeights.getTop(index))).toEqual([0, 10, 30, 60]);
	expect(rowHeights.total).toBe(60);
});

test('the row at a position is found, and the first or last row beyond the ends', () => {
	const rowHeights = heightsOf(10, 20, 30);

	expect([-5, 0, 9, 10, 29, 30, 59, 99].map((y) => rowHeights.indexAt(y))).toEqual([
		0, 0, 0, 1, 1, 2, 2, 2
	]);
});

test('a measured row moves the rows below it', () => {
	const rowHeights = heightsOf(10, 20, 30);
	expect(rowHeights.total).toBe(60);

	expect(rowHeights.measure('r1', 50)).toBe(true);
	expect(rowHeights.measure('r1', 50)).toBe(false);
	expect([1, 2, 3].map((index) => rowHeights.getTop(index))).toEqual([10, 60, 90]);
});

test('a row that comes back keeps its measured height', () => {
	const rowHeights = heightsOf(10, 20);
	rowHeights.measure('r1', 70);
	rowHeights.setRows(['r0'], () => 10);
	rowHeights.setRows(['r0', 'r1'], () => 10);

	expect(rowHeights.total).toBe(80);
});

test('an empty list has no height', () => {
	const rowHeights = new RowHeights();

	expect(rowHeights.total).toBe(0);
	expect(rowHeights.indexAt(100)).toBe(0);
	expect(rowHeights.indexOf('r0')).toBe(-1);
});
