/** Moves through a list of elements by keyboard and pointer. */

/** The index a key moves to; undefined for other keys. Left and right follow the text direction. */
export function findNextIndex(
	key: string,
	index: number,
	length: number,
	direction: string
): number | undefined {
	const forward = direction === 'rtl' ? -1 : 1;
	const target = {
		ArrowRight: index + forward,
		ArrowLeft: index - forward,
		ArrowDown: index + 1,
		ArrowUp: index - 1,
		Home: 0,
		End: length - 1
	}[key];
	return target === undefined ? undefined : Math.max(0, Math.min(target, length - 1));
}

/** Handles a navigation key: scrolls to the new element and returns its index, else undefined. */
export function moveByKey(
	event: KeyboardEvent,
	list: HTMLElement,
	index: number
): number | undefined {
	const { direction } = getComputedStyle(list);
	const target = findNextIndex(event.key, index, list.children.length, direction);
	if (target === undefined) return undefined;
	event.preventDefault();
	list.children[target]?.scrollIntoView({ block: 'nearest' });
	return target;
}

/** The index of the child an event is about, or undefined. */
export function findTargetIndex({ target }: Event, list: HTMLElement): number | undefined {
	const index = [...list.children].findIndex((child) => child === target);
	return index < 0 ? undefined : index;
}
