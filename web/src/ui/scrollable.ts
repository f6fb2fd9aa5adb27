/**
 * For what may be larger than its place and then scrolls by itself: only while it does can the
 * keyboard reach it, and only then has it a name. Otherwise every small table would be a stop.
 */
export function scrollable(label: string) {
	return (box: HTMLElement): (() => void) => {
		const observer = new ResizeObserver(() => (isTooSmall(box) ? name(box, label) : unname(box)));
		observer.observe(box);
		if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
		return () => observer.disconnect();
	};
}

function isTooSmall(box: HTMLElement): boolean {
	return box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
}

function name(box: HTMLElement, label: string): void {
	box.tabIndex = 0;
	box.role = 'group';
	box.ariaLabel = label;
}

function unname(box: HTMLElement): void {
	for (const attribute of ['tabindex', 'role', 'aria-label']) box.removeAttribute(attribute);
}
