/** Reads a text file, and puts it into a message as a fenced code block under its name. */
export const MAX_FILE_BYTES = 200_000;

export type ReadResult =
	{ kind: 'text'; name: string; text: string } | { kind: 'too large' | 'not text'; name: string };

/** Decides by the content, not the name, whether it is text. */
export async function readFile(file: File): Promise<ReadResult> {
	const { name } = file;
	if (file.size > MAX_FILE_BYTES) return { kind: 'too large', name };
	const text = await decode(file);
	return text === null ? { kind: 'not text', name } : { kind: 'text', name, text };
}

/** Uses a fence longer than any in the text, so that the text cannot close it. */
export function fenceFile(name: string, text: string): string {
	const runs = text.match(/`{3,}/g) ?? [];
	const fence = '`'.repeat(Math.max(3, ...runs.map(({ length }) => length + 1)));
	const end = text.endsWith('\n') || text === '' ? '' : '\n';
	return `${name}\n${fence}${guessLanguage(name)}\n${text}${end}${fence}\n`;
}

/** Appends a block to the draft. */
export function appendBlock(draft: string, block: string): string {
	return draft.trim() === '' ? block : `${draft.trimEnd()}\n\n${block}`;
}

/** Null if the file is not UTF-8, contains zero bytes or cannot be read (a folder). */
async function decode(file: File): Promise<string | null> {
	try {
		const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
		return text.includes('\0') ? null : text;
	} catch (error) {
		if (error instanceof TypeError || error instanceof DOMException) return null;
		throw error;
	}
}

/** The file extension if it can name a language. */
function guessLanguage(name: string): string {
	const ending = /\.(\w{1,12})$/.exec(name)?.[1]?.toLowerCase() ?? '';
	return ending === 'txt' || ending === 'log' ? '' : ending;
}
