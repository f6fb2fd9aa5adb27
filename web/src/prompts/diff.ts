/** Compares two texts by lines, and slightly changed lines by words. Knows nothing of prompts. */
import { diffArrays } from 'diff';

export interface Piece {
	kind: 'same' | 'removed' | 'added';
	text: string;
}

/** Stops the search: texts with more edits than this have little in common. */
const MAX_EDITS = 600;
/** Lines that share fewer of their words than this are shown as a whole. */
const MIN_SHARED_WORDS = 0.4;

/** The pieces without the added ones are the text before; without the removed ones, the text after. */
export function diffTexts(before: string, after: string): Piece[] {
	const lines = diffTokens(splitLines(before), splitLines(after));
	return joinPieces(groupChanges(lines).flatMap(diffWords));
}

const splitLines = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? [];
const splitWords = (text: string) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
const isWord = (text: string) => text.trim() !== '';
const joinText = (pieces: Piece[], kind: Piece['kind']) =>
	pieces.flatMap((piece) => (piece.kind === kind ? [piece.text] : [])).join('');

function diffTokens(before: string[], after: string[]): Piece[] {
	const changes = diffArrays(before, after, { maxEditLength: MAX_EDITS }) ?? [
		{ value: before, removed: true, added: false },
		{ value: after, removed: false, added: true }
	];
	return changes.flatMap(({ value, removed, added }) => {
		const kind = removed ? 'removed' : added ? 'added' : 'same';
		return value.map((text): Piece => ({ kind, text }));
	});
}

/** Compares changed lines by words, unless they share too few of them. */
function diffWords(lines: Piece[]): Piece[] {
	const before = splitWords(joinText(lines, 'removed'));
	const after = splitWords(joinText(lines, 'added'));
	if (before.length === 0 || after.length === 0) return lines;
	const words = diffTokens(before, after);
	const numShared = words.filter(({ kind, text }) => kind === 'same' && isWord(text)).length;
	const numWords = Math.max(before.filter(isWord).length, after.filter(isWord).length);
	return numShared < numWords * MIN_SHARED_WORDS ? lines : mergeAcrossSpaces(words);
}

/** Makes a space between two changes part of both, so that changed words in a row are one piece. */
function mergeAcrossSpaces(pieces: Piece[]): Piece[] {
	const isChange = (index: number) => (pieces[index]?.kind ?? 'same') !== 'same';
	return pieces.flatMap((piece, index): Piece[] => {
		const isBetween = piece.text === ' ' && isChange(index - 1) && isChange(index + 1);
		if (piece.kind !== 'same' || !isBetween) return [piece];
		return [
			{ kind: 'removed', text: ' ' },
			{ kind: 'added', text: ' ' }
		];
	});
}

/** Joins each group into one piece that is the same, or into one removed and one added piece. */
function joinPieces(pieces: Piece[]): Piece[] {
	const kinds = ['same', 'removed', 'added'] as const;
	return groupChanges(pieces)
		.flatMap((group) => kinds.map((kind): Piece => ({ kind, text: joinText(group, kind) })))
		.filter(({ text }) => text !== '');
}

/** Groups neighbours that are the same, and neighbours that changed. */
function groupChanges(pieces: Piece[]): Piece[][] {
	const groups: Piece[][] = [];
	for (const piece of pieces) {
		const last = groups.at(-1);
		if (last !== undefined && (last[0]?.kind === 'same') === (piece.kind === 'same'))
			last.push(piece);
		else groups.push([piece]);
	}
	return groups;
}
