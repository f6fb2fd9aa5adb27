/** Walking along a list, by keyboard and by pointer. */

/** Where a key leads to from place `at` of `num`. Left and right are as the reader sees them. */
export function placeAfter(
	key: string,
	at: number,
	num: number,
	direction: string
): number | undefined {
	const forth = direction === 'rtl' ? -1 : 1;
	const to = {
		ArrowRight: at + forth,
		ArrowLeft: at - forth,
		ArrowDown: at + 1,
		ArrowUp: at - 1,
		Home: 0,
		End: num - 1
	}[key];
	return to === undefined ? undefined : Math.max(0, Math.min(to, num - 1));
}

/** The place a key leads to in a list of elements, in sight. Undefined where it is none of ours. */
export function walked(event: KeyboardEvent, list: HTMLElement, at: number): number | undefined {
	const { direction } = getComputedStyle(list);
	const to = placeAfter(event.key, at, list.children.length, direction);
	if (to === undefined) return undefined;
	event.preventDefault();
	list.children[to]?.scrollIntoView({ block: 'nearest' });
	return to;
}

/** The place of what an event is about in a list of elements. Undefined where that is none of them. */
export function pointedAt({ target }: Event, list: HTMLElement): number | undefined {
	const place = [...list.children].findIndex((child) => child === target);
	return place < 0 ? undefined : place;
}
