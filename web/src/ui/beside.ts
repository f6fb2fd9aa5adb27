/**
 * Keeps a floating element beside its anchor. Browsers that can do it in CSS do, and follow
 * the anchor as it scrolls; in the others it is placed once, and again when the window changes.
 */
import { besideOf } from '$/ui/place';

export interface Beside {
	side: 'below' | 'above';
	align: 'start' | 'end';
}

const TRIES = 'flip-block, flip-inline, flip-block flip-inline';

export function beside(floating: HTMLElement, anchor: HTMLElement, wish: Beside): () => void {
	return CSS.supports('position-area', 'block-end span-inline-end')
		? placeByStyle(floating, anchor, wish)
		: placeByHand(floating, anchor, wish);
}

let last = 0;

function placeByStyle(floating: HTMLElement, anchor: HTMLElement, wish: Beside): () => void {
	const name = `--beside-${++last}`;
	const block = wish.side === 'below' ? 'block-end' : 'block-start';
	const inline = wish.align === 'start' ? 'span-inline-end' : 'span-inline-start';
	anchor.style.setProperty('anchor-name', name);
	floating.style.setProperty('position-anchor', name);
	floating.style.setProperty('position-area', `${block} ${inline}`);
	floating.style.setProperty('position-try-fallbacks', TRIES);
	floating.style.marginBlock = '0.35rem';
	return () => anchor.style.removeProperty('anchor-name');
}

function placeByHand(floating: HTMLElement, anchor: HTMLElement, wish: Beside): () => void {
	const isFromLeft = getComputedStyle(anchor).direction === 'ltr';
	const place = (): void => {
		const { x, y } = besideOf(anchor.getBoundingClientRect(), floating.getBoundingClientRect(), {
			side: wish.side,
			align: (wish.align === 'start') === isFromLeft ? 'left' : 'right'
		});
		floating.style.left = `${x}px`;
		floating.style.top = `${y}px`;
	};
	place();
	addEventListener('resize', place);
	addEventListener('scroll', place, { capture: true, passive: true });
	return () => {
		removeEventListener('resize', place);
		removeEventListener('scroll', place, { capture: true });
	};
}
