/** Makes a box focusable and names it only while its content overflows: else every small table would be a tab stop. */
export function scrollable(label: string) {
	return (box: HTMLElement): (() => void) => {
		const observer = new ResizeObserver(() =>
			isOverflowing(box) ? makeFocusable(box, label) : makeUnfocusable(box)
		);
		observer.observe(box);
		if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
		return () => observer.disconnect();
	};
}

function isOverflowing(box: HTMLElement): boolean {
	return box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;
}

function makeFocusable(box: HTMLElement, label: string): void {
	box.tabIndex = 0;
	box.role = 'group';
	box.ariaLabel = label;
}

function makeUnfocusable(box: HTMLElement): void {
	for (const attribute of ['tabindex', 'role', 'aria-label']) box.removeAttribute(attribute);
}
