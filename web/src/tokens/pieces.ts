/** The tokens of a text, as they are drawn: blanks made visible, bytes where there is no letter. */
import type { Tokenized } from '$/api/wire';

/** More would make the page slow, and nobody reads them all. */
export const MOST_SHOWN = 4_000;

export interface Piece {
	id: number;
	/** What is drawn. Where a token is not whole characters, its bytes. */
	text: string;
	isWhole: boolean;
}

/** Lines break where the text does, and long runs of blanks wherever there is need. */
const SIGNS: Record<string, string> = { ' ': '·', '\n': '↵\n', '\t': '→\t', '\u00a0': '⍽' };

export function visible(text: string): string {
	return text.replaceAll(/[ \n\t\u00a0]/g, (blank) => SIGNS[blank] ?? blank);
}

export function piecesOf({ ids, pieces, bytes }: Tokenized, most = MOST_SHOWN): Piece[] {
	return ids.slice(0, most).map((id, i) => {
		const piece = pieces[i] ?? null;
		const text = piece === null ? hexOf(fromBase64(bytes[i] ?? '')) : visible(piece);
		return { id, text, isWhole: piece !== null };
	});
}

/** What the token stands for, byte by byte. */
export function bytesOf({ pieces, bytes }: Tokenized, i: number): string {
	const piece = pieces[i] ?? null;
	return hexOf(piece === null ? fromBase64(bytes[i] ?? '') : new TextEncoder().encode(piece));
}

export function charactersPerToken({ num_characters, num_tokens }: Tokenized): number {
	return num_tokens === 0 ? 0 : num_characters / num_tokens;
}

function hexOf(bytes: Uint8Array): string {
	return [...bytes].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase()).join(' ');
}

function fromBase64(text: string): Uint8Array {
	return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
