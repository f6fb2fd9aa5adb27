/** Puts text on the clipboard. Browsers offer the modern way on https and on this machine only. */
export async function copy(text: string): Promise<void> {
	if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
	const area = document.createElement('textarea');
	area.value = text;
	// Inside an open dialog: everything outside it can hold no selection.
	(document.querySelector('dialog[open]') ?? document.body).append(area);
	area.select();
	const isDone = document.execCommand('copy');
	area.remove();
	if (!isDone) throw new DOMException('The clipboard is closed to this page.', 'NotAllowedError');
}
