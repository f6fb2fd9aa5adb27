import { describe, expect, it } from 'vitest';
import { besideOf, type Wish } from '$/ui/place';

const WINDOW = { width: 400, height: 300 };
const LIST = { width: 120, height: 100 };

function placed(left: number, top: number, wish: Wish) {
	return besideOf({ left, top, width: 40, height: 20 }, LIST, wish, WINDOW);
}

describe('What floats', () => {
	it('stands below its anchor, edge to edge', () => {
		expect(placed(50, 50, { side: 'below', align: 'left' })).toEqual({ x: 50, y: 76 });
	});
	it('can end where its anchor ends', () => {
		expect(placed(200, 50, { side: 'below', align: 'right' })).toEqual({ x: 120, y: 76 });
	});
	it('can stand in the middle', () => {
		expect(placed(200, 50, { side: 'below', align: 'middle' })).toEqual({ x: 160, y: 76 });
	});
	it('goes above where there is no room below', () => {
		expect(placed(50, 270, { side: 'below', align: 'left' })).toEqual({ x: 50, y: 164 });
	});
	it('goes below where there is no room above', () => {
		expect(placed(50, 20, { side: 'above', align: 'left' })).toEqual({ x: 50, y: 46 });
	});
	it('stays inside the window on every side', () => {
		expect(placed(390, 50, { side: 'below', align: 'left' }).x).toBe(272);
		expect(placed(0, 50, { side: 'below', align: 'right' }).x).toBe(8);
		const tall = besideOf(
			{ left: 0, top: 100, width: 40, height: 20 },
			{ width: 40, height: 290 },
			{ side: 'below', align: 'left' },
			WINDOW
		);
		expect(tall.y).toBe(8);
	});
});
