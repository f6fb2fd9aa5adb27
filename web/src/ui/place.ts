/** Where something that floats goes: beside its anchor, and always inside the window. */
export interface Box {
	left: number;
	top: number;
	width: number;
	height: number;
}

export interface Wish {
	side: 'below' | 'above';
	/** Left and right are those of the screen; whoever reads from the right swaps them first. */
	align: 'left' | 'middle' | 'right';
}

const GAP = 6;
const EDGE = 8;

export function besideOf(
	anchor: Box,
	floating: { width: number; height: number },
	wish: Wish,
	window: { width: number; height: number } = { width: innerWidth, height: innerHeight }
): { x: number; y: number } {
	const above = anchor.top - GAP - floating.height;
	const below = anchor.top + anchor.height + GAP;
	const fitsAbove = above >= EDGE;
	const fitsBelow = below + floating.height <= window.height - EDGE;
	const goesBelow = wish.side === 'below' ? fitsBelow || !fitsAbove : fitsBelow && !fitsAbove;
	const spare = anchor.width - floating.width;
	const shift = { left: 0, middle: spare / 2, right: spare }[wish.align];
	return {
		x: within(anchor.left + shift, floating.width, window.width),
		y: within(goesBelow ? below : above, floating.height, window.height)
	};
}

function within(start: number, length: number, room: number): number {
	return Math.round(Math.max(EDGE, Math.min(start, room - length - EDGE)));
}
