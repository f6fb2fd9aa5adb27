/** A text file as part of a message: its words in a fence, under its name. */
export const MAX_FILE_BYTES = 200_000;

export type Reading =
	{ kind: 'text'; name: string; text: string } | { kind: 'too large' | 'not text'; name: string };

/** What is text is told by what is in it, not by its name. */
export async function readFile(file: File): Promise<Reading> {
	const { name } = file;
	if (file.size > MAX_FILE_BYTES) return { kind: 'too large', name };
	const text = await decode(file);
	return text === null ? { kind: 'not text', name } : { kind: 'text', name, text };
}

/** The fence is longer than any in the text, so the text cannot end it. */
export function fenced(name: string, text: string): string {
	const runs = text.match(/`{3,}/g) ?? [];
	const fence = '`'.repeat(Math.max(3, ...runs.map(({ length }) => length + 1)));
	const end = text.endsWith('\n') || text === '' ? '' : '\n';
	return `${name}\n${fence}${languageOf(name)}\n${text}${end}${fence}\n`;
}

/** Puts a block below what is written already. */
export function appended(draft: string, block: string): string {
	return draft.trim() === '' ? block : `${draft.trimEnd()}\n\n${block}`;
}

/** Null for what is not UTF-8, holds zero bytes, or cannot be read at all (a folder). */
async function decode(file: File): Promise<string | null> {
	try {
		const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
		return text.includes('\0') ? null : text;
	} catch (error) {
		if (error instanceof TypeError || error instanceof DOMException) return null;
		throw error;
	}
}

/** What stands after the last dot, where that can be the name of a language. */
function languageOf(name: string): string {
	const ending = /\.(\w{1,12})$/.exec(name)?.[1]?.toLowerCase() ?? '';
	return ending === 'txt' || ending === 'log' ? '' : ending;
}
