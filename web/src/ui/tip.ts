/**
 * A few words beside whatever the pointer rests on or the keyboard reaches. One element for
 * the whole page: it only repeats a label that is already read out, so it is not read again.
 */
import type { Attachment } from 'svelte/attachments';
import { besideOf } from '$/ui/place';

const MOMENT_MS = 450;
/** Long enough to move the pointer onto the tip itself. */
const GRACE_MS = 120;

let shown: { by: Element; element: HTMLElement } | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export function tip(text: string): Attachment<HTMLElement> {
	return (by) => {
		const soon = (): void => after(MOMENT_MS, () => show(by, text));
		const late = (): void => after(GRACE_MS, hide);
		const enter = (event: PointerEvent): void => {
			if (event.pointerType === 'mouse') soon();
		};
		const focus = (): void => {
			if (by.matches(':focus-visible')) soon();
		};
		const now = (): void => after(0, hide);
		const listening = new AbortController();
		const { signal } = listening;
		by.addEventListener('pointerenter', enter, { signal });
		by.addEventListener('pointerleave', late, { signal });
		by.addEventListener('focus', focus, { signal });
		by.addEventListener('blur', now, { signal });
		by.addEventListener('pointerdown', now, { signal });
		by.addEventListener('keydown', now, { signal });
		if (shown?.by === by) shown.element.textContent = text;
		return () => {
			listening.abort();
			// A tip whose words change is fastened anew at once; one that is gone takes its words along.
			queueMicrotask(() => {
				if (shown?.by === by && !by.isConnected) hide();
			});
		};
	};
}

function after(ms: number, act: () => void): void {
	clearTimeout(timer);
	timer = setTimeout(act, ms);
}

function show(by: HTMLElement, text: string): void {
	hide();
	if (!by.isConnected || by.getAttribute('aria-expanded') === 'true') return;
	const element = document.createElement('div');
	element.className = 'tip';
	element.popover = 'manual';
	element.ariaHidden = 'true';
	element.textContent = text;
	element.addEventListener('pointerenter', () => clearTimeout(timer));
	element.addEventListener('pointerleave', () => after(GRACE_MS, hide));
	document.body.append(element);
	element.showPopover();
	const { x, y } = besideOf(by.getBoundingClientRect(), element.getBoundingClientRect(), {
		side: 'below',
		align: 'middle'
	});
	element.style.translate = `${x}px ${y}px`;
	shown = { by, element };
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
