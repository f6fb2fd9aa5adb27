/**
 * A tooltip for the hovered or focused element. One element serves the whole page. It repeats an
 * accessible label, so it is hidden from screen readers.
 */
import type { Attachment } from 'svelte/attachments';
import { computePosition } from '$/ui/floating';

const SHOW_DELAY_MS = 450;
/** Long enough to move the pointer onto the tooltip itself. */
const HIDE_DELAY_MS = 120;

let shown: { target: Element; element: HTMLElement } | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export function tooltip(text: string): Attachment<HTMLElement> {
	return (target) => {
		const showSoon = (): void => schedule(SHOW_DELAY_MS, () => show(target, text));
		const hideSoon = (): void => schedule(HIDE_DELAY_MS, hide);
		const enter = (event: PointerEvent): void => {
			if (event.pointerType === 'mouse') showSoon();
		};
		const focus = (): void => {
			if (target.matches(':focus-visible')) showSoon();
		};
		const hideNow = (): void => schedule(0, hide);
		const listeners = new AbortController();
		const { signal } = listeners;
		target.addEventListener('pointerenter', enter, { signal });
		target.addEventListener('pointerleave', hideSoon, { signal });
		target.addEventListener('focus', focus, { signal });
		target.addEventListener('blur', hideNow, { signal });
		target.addEventListener('pointerdown', hideNow, { signal });
		target.addEventListener('keydown', hideNow, { signal });
		if (shown?.target === target) shown.element.textContent = text;
		return () => {
			listeners.abort();
			// Svelte reattaches at once if only the text changes; hide only if the element is gone.
			queueMicrotask(() => {
				if (shown?.target === target && !target.isConnected) hide();
			});
		};
	};
}

function schedule(ms: number, action: () => void): void {
	clearTimeout(timer);
	timer = setTimeout(action, ms);
}

function show(target: HTMLElement, text: string): void {
	hide();
	if (!target.isConnected || target.getAttribute('aria-expanded') === 'true') return;
	const element = document.createElement('div');
	element.className = 'tooltip';
	element.popover = 'manual';
	element.ariaHidden = 'true';
	element.textContent = text;
	element.addEventListener('pointerenter', () => clearTimeout(timer));
	element.addEventListener('pointerleave', () => schedule(HIDE_DELAY_MS, hide));
	document.body.append(element);
	element.showPopover();
	const { x, y } = computePosition(
		target.getBoundingClientRect(),
		element.getBoundingClientRect(),
		{
			side: 'below',
			align: 'middle'
		}
	);
	element.style.translate = `${x}px ${y}px`;
	shown = { target, element };
	addEventListener('scroll', hide, { capture: true, once: true });
	addEventListener('keydown', hideOnEscape);
}

function hideOnEscape(event: KeyboardEvent): void {
	if (event.key === 'Escape') hide();
}

function hide(): void {
	shown?.element.remove();
	shown = null;
	removeEventListener('scroll', hide, { capture: true });
	removeEventListener('keydown', hideOnEscape);
}
