/** Gives a page of Markdown to the person as a file, the way the browser keeps files. */
export function save(name: string, text: string): void {
	const address = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
	const link = document.createElement('a');
	link.href = address;
	link.download = name;
	link.click();
	URL.revokeObjectURL(address);
}
