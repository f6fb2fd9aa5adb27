/**
 * For what may be wider than the page and then scrolls by itself: only while it does can the
 * keyboard reach it, and only then has it a name. Otherwise every small table would be a stop.
 */
export function scrollable(label: string) {
	return (box: HTMLElement): (() => void) => {
		const look = () => {
			const isWider = box.scrollWidth > box.clientWidth;
			if (isWider === box.hasAttribute('tabindex')) return;
			if (!isWider)
				return ['tabindex', 'role', 'aria-label'].forEach((name) => box.removeAttribute(name));
			box.tabIndex = 0;
			box.role = 'group';
			box.ariaLabel = label;
		};
		const observer = new ResizeObserver(look);
		observer.observe(box);
		if (box.firstElementChild !== null) observer.observe(box.firstElementChild);
		return () => observer.disconnect();
	};
}
