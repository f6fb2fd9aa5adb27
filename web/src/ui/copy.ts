/** Puts text on the clipboard. Browsers offer the modern way on https and on this machine only. */
export async function copy(text: string): Promise<void> {
	if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text);
	const area = document.createElement('textarea');
	area.value = text;
	document.body.append(area);
	area.select();
	document.execCommand('copy');
	area.remove();
}
