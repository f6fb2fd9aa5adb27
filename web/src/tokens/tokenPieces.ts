/** Prepares tokens for drawing: makes whitespace visible, and shows bytes of incomplete characters. */
import type { Tokenized } from '$/api/wire';

/** More would make the page slow. */
export const MAX_PIECES = 4_000;

export interface Piece {
	id: number;
	/** The text, or the bytes if the token is not whole characters. */
	text: string;
	isWhole: boolean;
}

/** Keeps the line breaks, so that the lines match those of the text. */
const SIGNS: Record<string, string> = { ' ': '·', '\n': '↵\n', '\t': '→\t', '\u00a0': '⍽' };

export function showWhitespace(text: string): string {
	return text.replaceAll(/[ \n\t\u00a0]/g, (blank) => SIGNS[blank] ?? blank);
}

export function buildPieces({ ids, pieces, bytes }: Tokenized, max = MAX_PIECES): Piece[] {
	return ids.slice(0, max).map((id, i) => {
		const piece = pieces[i] ?? null;
		const text = piece === null ? toHex(fromBase64(bytes[i] ?? '')) : showWhitespace(piece);
		return { id, text, isWhole: piece !== null };
	});
}

/** The bytes of a token in hexadecimal. */
export function toHexBytes({ pieces, bytes }: Tokenized, i: number): string {
	const piece = pieces[i] ?? null;
	return toHex(piece === null ? fromBase64(bytes[i] ?? '') : new TextEncoder().encode(piece));
}

export function computeCharactersPerToken({ num_characters, num_tokens }: Tokenized): number {
	return num_tokens === 0 ? 0 : num_characters / num_tokens;
}

function toHex(bytes: Uint8Array): string {
	return [...bytes].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(' ');
}

function fromBase64(text: string): Uint8Array {
	return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
