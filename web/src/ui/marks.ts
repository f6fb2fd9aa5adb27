/** Which pieces of a text were looked for. Plain values, so nothing in a text is ever markup. */
export interface Piece {
	text: string;
	isFound: boolean;
}

/** The server marks what a search found with U+0002 and U+0003. */
export function piecesOf(marked: string): Piece[] {
	return marked.split('\u0002').flatMap((piece, i) => {
		const [found = '', after] = piece.split('\u0003');
		if (i === 0 || after === undefined) return [{ text: found, isFound: false }];
		return [
			{ text: found, isFound: true },
			{ text: after, isFound: false }
		];
	});
}

/** For a narrow place: of what stands before the first mark, only the last few words. */
export function closeUp(marked: string, mostBefore = 24): string {
	const mark = marked.indexOf('\u0002');
	if (mark <= mostBefore) return marked;
	const space = marked.indexOf(' ', mark - mostBefore);
	return `…${marked.slice(space === -1 || space >= mark ? mark : space + 1)}`;
}

/** Marks the words of a search where they begin a word of the text, whatever their case. */
export function markWords(text: string, query: string): string {
	const words = query.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
	if (words.length === 0) return text;
	const either = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
	const beginning = new RegExp(`(?<![\\p{L}\\p{N}])(${either})`, 'giu');
	return text.replace(/[\u0002\u0003]/g, '').replace(beginning, '\u0002$1\u0003');
}
