/** Search matches in a text, as plain values, so that no text is ever parsed as markup. */
export interface Piece {
	text: string;
	isMatch: boolean;
}

/** Splits at the marks U+0002 and U+0003 that the server puts around matches. */
export function splitMarks(marked: string): Piece[] {
	return marked.split('\u0002').flatMap((piece, i) => {
		const [found = '', after] = piece.split('\u0003');
		if (i === 0 || after === undefined) return [{ text: found, isMatch: false }];
		return [
			{ text: found, isMatch: true },
			{ text: after, isMatch: false }
		];
	});
}

/** Shortens the text before the first match to a few words, for narrow places. */
export function trimBeforeMark(marked: string, maxBefore = 24): string {
	const mark = marked.indexOf('\u0002');
	if (mark <= maxBefore) return marked;
	const space = marked.indexOf(' ', mark - maxBefore);
	return `…${marked.slice(space === -1 || space >= mark ? mark : space + 1)}`;
}

/** Marks where a word of the text starts with a word of the query, ignoring case. */
export function markWords(text: string, query: string): string {
	const words = query.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
	if (words.length === 0) return text;
	const either = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
	const beginning = new RegExp(`(?<![\\p{L}\\p{N}])(${either})`, 'giu');
	return text.replace(/[\u0002\u0003]/g, '').replace(beginning, '\u0002$1\u0003');
}
