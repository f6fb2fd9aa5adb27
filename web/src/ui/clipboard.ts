/** Copies text to the clipboard. The clipboard API exists only on https and localhost. */
export async function copyText(text: string): Promise<void> {
	if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
	const area = document.createElement('textarea');
	area.value = text;
	// Inside an open dialog, because elements outside it cannot be selected.
	(document.querySelector('dialog[open]') ?? document.body).append(area);
	area.select();
	const isDone = document.execCommand('copy');
	area.remove();
	if (!isDone) throw new DOMException('The clipboard is closed to this page.', 'NotAllowedError');
}
