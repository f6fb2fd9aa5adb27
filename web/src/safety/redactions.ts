/** Puts back what placeholders stand for. The server sends the values to their owner only. */

export interface Redaction {
	placeholder: string;
	/** As the person wrote it. */
	value: string;
}

export interface Piece {
	text: string;
	/** The model saw a placeholder in its place. */
	isHidden: boolean;
}

const PLACEHOLDER = /(\[[A-Z_]+_[0-9A-F]{4,64}\])/;

/** Splits a text at its placeholders. Those of other conversations stay as they are. */
export function splitPlaceholders(text: string, redactions: readonly Redaction[]): Piece[] {
	if (redactions.length === 0) return [{ text, isHidden: false }];
	const numSeen = new Map<string, number>();
	return text.split(PLACEHOLDER).flatMap((piece): Piece[] => {
		const written = redactions.filter(({ placeholder }) => placeholder === piece);
		// A value that is written in several ways is listed once for each place.
		const at = numSeen.get(piece) ?? 0;
		numSeen.set(piece, at + 1);
		const value = written[Math.min(at, written.length - 1)]?.value;
		if (value !== undefined) return [{ text: value, isHidden: true }];
		return piece === '' ? [] : [{ text: piece, isHidden: false }];
	});
}

export function restoreValues(text: string, redactions: readonly Redaction[]): string {
	return splitPlaceholders(text, redactions)
		.map((piece) => piece.text)
		.join('');
}
