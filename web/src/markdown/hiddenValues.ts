/** What the placeholders in an answer stand for. Whoever draws the answer provides it. */
import { getContext, setContext } from 'svelte';
import { splitPlaceholders, type Redaction } from '$/safety/redactions';
import { hiddenValue } from '$/ui/hiddenValue';

type GetRedactions = () => readonly Redaction[];

const KEY = Symbol('redactions');
const NONE: GetRedactions = () => [];

export function provideRedactions(redactions: GetRedactions): void {
	setContext(KEY, redactions);
}

export function findRedactions(): GetRedactions {
	return getContext<GetRedactions | undefined>(KEY) ?? NONE;
}

/** Shows values in place of the placeholders in an element. */
export function showValues(
	element: HTMLElement,
	redactions: readonly Redaction[],
	label: string
): void {
	const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
	const texts: Node[] = [];
	while (walker.nextNode()) texts.push(walker.currentNode);
	for (const text of texts as Text[]) {
		const pieces = splitPlaceholders(text.data, redactions);
		if (!pieces.some(({ isHidden }) => isHidden)) continue;
		text.replaceWith(...pieces.map((piece) => (piece.isHidden ? draw(piece.text) : piece.text)));
	}

	function draw(value: string): HTMLElement {
		const shown = document.createElement('span');
		shown.textContent = value;
		hiddenValue(label)(shown);
		return shown;
	}
}
