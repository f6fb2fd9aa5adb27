/** Downloads Markdown text as a file. */
export function saveMarkdown(name: string, text: string): void {
	const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
	const link = document.createElement('a');
	link.href = url;
	link.download = name;
	link.click();
	URL.revokeObjectURL(url);
}
