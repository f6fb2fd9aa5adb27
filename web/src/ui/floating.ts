/** Positions floating elements (menus, popovers, tooltips) beside an anchor, inside the window. */
export interface Box {
	left: number;
	top: number;
	width: number;
	height: number;
}

export interface Placement {
	side: 'below' | 'above';
	/** Physical: callers swap left and right for right-to-left text. */
	align: 'left' | 'middle' | 'right';
}

const GAP = 6;
const EDGE = 8;

export function computePosition(
	anchor: Box,
	floating: { width: number; height: number },
	placement: Placement,
	window: { width: number; height: number } = { width: innerWidth, height: innerHeight }
): { x: number; y: number } {
	const above = anchor.top - GAP - floating.height;
	const below = anchor.top + anchor.height + GAP;
	const fitsAbove = above >= EDGE;
	const fitsBelow = below + floating.height <= window.height - EDGE;
	const goesBelow = placement.side === 'below' ? fitsBelow || !fitsAbove : fitsBelow && !fitsAbove;
	const spare = anchor.width - floating.width;
	const shift = { left: 0, middle: spare / 2, right: spare }[placement.align];
	return {
		x: clampInside(anchor.left + shift, floating.width, window.width),
		y: clampInside(goesBelow ? below : above, floating.height, window.height)
	};
}

function clampInside(start: number, length: number, available: number): number {
	return Math.round(Math.max(EDGE, Math.min(start, available - length - EDGE)));
}

interface AnchorPlacement {
	side: 'below' | 'above';
	align: 'start' | 'end';
}

const FALLBACKS = 'flip-block, flip-inline, flip-block flip-inline';

export function anchorTo(
	floating: HTMLElement,
	anchor: HTMLElement,
	placement: AnchorPlacement
): () => void {
	return CSS.supports('position-area', 'block-end span-inline-end')
		? anchorByStyle(floating, anchor, placement)
		: anchorByScript(floating, anchor, placement);
}

let numAnchors = 0;

function anchorByStyle(
	floating: HTMLElement,
	anchor: HTMLElement,
	placement: AnchorPlacement
): () => void {
	const name = `--anchor-${++numAnchors}`;
	const block = placement.side === 'below' ? 'block-end' : 'block-start';
	const inline = placement.align === 'start' ? 'span-inline-end' : 'span-inline-start';
	anchor.style.setProperty('anchor-name', name);
	floating.style.setProperty('position-anchor', name);
	floating.style.setProperty('position-area', `${block} ${inline}`);
	floating.style.setProperty('position-try-fallbacks', FALLBACKS);
	floating.style.marginBlock = '0.35rem';
	return () => anchor.style.removeProperty('anchor-name');
}

function anchorByScript(
	floating: HTMLElement,
	anchor: HTMLElement,
	placement: AnchorPlacement
): () => void {
	const isLeftToRight = getComputedStyle(anchor).direction === 'ltr';
	const update = (): void => {
		const { x, y } = computePosition(
			anchor.getBoundingClientRect(),
			floating.getBoundingClientRect(),
			{
				side: placement.side,
				align: (placement.align === 'start') === isLeftToRight ? 'left' : 'right'
			}
		);
		floating.style.left = `${x}px`;
		floating.style.top = `${y}px`;
	};
	update();
	addEventListener('resize', update);
	addEventListener('scroll', update, { capture: true, passive: true });
	return () => {
		removeEventListener('resize', update);
		removeEventListener('scroll', update, { capture: true });
	};
}
