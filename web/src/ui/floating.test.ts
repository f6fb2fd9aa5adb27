import { describe, expect, it } from 'vitest';
import { computePosition, type Placement } from '$/ui/floating';

const WINDOW = { width: 400, height: 300 };
const LIST = { width: 120, height: 100 };

function positionAt(left: number, top: number, placement: Placement) {
	return computePosition({ left, top, width: 40, height: 20 }, LIST, placement, WINDOW);
}

describe('A floating element', () => {
	it('stands below its anchor, edge to edge', () => {
		expect(positionAt(50, 50, { side: 'below', align: 'left' })).toEqual({ x: 50, y: 76 });
	});
	it('can align with the end of its anchor', () => {
		expect(positionAt(200, 50, { side: 'below', align: 'right' })).toEqual({ x: 120, y: 76 });
	});
	it('can be centred on its anchor', () => {
		expect(positionAt(200, 50, { side: 'below', align: 'middle' })).toEqual({ x: 160, y: 76 });
	});
	it('goes above if there is no room below', () => {
		expect(positionAt(50, 270, { side: 'below', align: 'left' })).toEqual({ x: 50, y: 164 });
	});
	it('goes below if there is no room above', () => {
		expect(positionAt(50, 20, { side: 'above', align: 'left' })).toEqual({ x: 50, y: 46 });
	});
	it('stays inside the window on every side', () => {
		expect(positionAt(390, 50, { side: 'below', align: 'left' }).x).toBe(272);
		expect(positionAt(0, 50, { side: 'below', align: 'right' }).x).toBe(8);
		const tall = computePosition(
			{ left: 0, top: 100, width: 40, height: 20 },
			{ width: 40, height: 290 },
			{ side: 'below', align: 'left' },
			WINDOW
		);
		expect(tall.y).toBe(8);
	});
});
