/**
 * What differs between two texts, so that a person can read it: line by line, and inside of lines
 * that were changed a little, word by word. Knows nothing of prompts.
 */
export interface Piece {
	kind: 'same' | 'removed' | 'added';
	text: string;
}

/** Texts with more changes than this have hardly anything in common that is worth looking for. */
const MOST_CHANGES = 600;
/** Of the words of a stretch: with less in common it reads better as a whole. */
const LEAST_IN_COMMON = 0.4;

/** Without what was added, the pieces are the text before; without what was removed, the one after. */
export function differences(before: string, after: string): Piece[] {
	return tidied(runs(compared(linesOf(before), linesOf(after))).flatMap(refined));
}

const linesOf = (text: string) => text.match(/[^\n]*\n|[^\n]+/g) ?? [];
const wordsOf = (text: string) => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
const textOf = (pieces: Piece[], kind: Piece['kind']) =>
	pieces.flatMap((piece) => (piece.kind === kind ? [piece.text] : [])).join('');

/** Lines that were changed, by their words, unless they were written anew. */
function refined(run: Piece[]): Piece[] {
	const before = wordsOf(textOf(run, 'removed'));
	const after = wordsOf(textOf(run, 'added'));
	if (before.length === 0 || after.length === 0) return run;
	const words = compared(before, after);
	const numKept = words.filter(({ kind, text }) => kind === 'same' && text.trim() !== '').length;
	const numWords = Math.max(...[before, after].map(numWordsIn));
	return numKept < numWords * LEAST_IN_COMMON ? run : bridged(words);
}

const numWordsIn = (words: string[]) => words.filter((word) => word.trim() !== '').length;

/** A blank between two changes is part of them: otherwise every word would stand alone. */
function bridged(pieces: Piece[]): Piece[] {
	const isChange = (index: number) => (pieces[index]?.kind ?? 'same') !== 'same';
	return pieces.flatMap((piece, index): Piece[] => {
		const isBridge = piece.text === ' ' && isChange(index - 1) && isChange(index + 1);
		if (piece.kind !== 'same' || !isBridge) return [piece];
		return [
			{ kind: 'removed', text: ' ' },
			{ kind: 'added', text: ' ' }
		];
	});
}

/** Each run as one piece of what stayed, or as what went and then what came. */
function tidied(pieces: Piece[]): Piece[] {
	const kinds = ['same', 'removed', 'added'] as const;
	return runs(pieces)
		.flatMap((run) => kinds.map((kind): Piece => ({ kind, text: textOf(run, kind) })))
		.filter(({ text }) => text !== '');
}

/** Pieces side by side that stayed, or that did not. */
function runs(pieces: Piece[]): Piece[][] {
	const found: Piece[][] = [];
	for (const piece of pieces) {
		const last = found.at(-1);
		const isOther = (last?.[0]?.kind === 'same') !== (piece.kind === 'same');
		if (last === undefined || isOther) found.push([piece]);
		else last.push(piece);
	}
	return found;
}

const as = (kind: Piece['kind']) => (text: string) => ({ kind, text });

/** What both begin and end with is the same, and need not be searched. */
function compared(before: string[], after: string[]): Piece[] {
	const most = Math.min(before.length, after.length);
	let start = 0;
	while (start < most && before[start] === after[start]) start += 1;
	let end = 0;
	while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
	const middle = (texts: string[]) => texts.slice(start, texts.length - end);
	return [
		...before.slice(0, start).map(as('same')),
		...shortest(middle(before), middle(after)),
		...before.slice(before.length - end).map(as('same'))
	];
}

/** How far into `before` each diagonal has come; a diagonal is how far that is ahead of `after`. */
type Reached = Map<number, number>;

/** The fewest changes that make one of the other (Myers, 1986), unless they are too many. */
function shortest(before: string[], after: string[]): Piece[] {
	const reached: Reached = new Map([[1, 0]]);
	const steps: Reached[] = [];
	for (let step = 0; step <= MOST_CHANGES; step += 1) {
		steps.push(new Map(reached));
		for (let diagonal = -step; diagonal <= step; diagonal += 2) {
			let x = comesByAdding(reached, diagonal, step)
				? at(reached, diagonal + 1)
				: at(reached, diagonal - 1) + 1;
			while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal])
				x += 1;
			reached.set(diagonal, x);
			if (x >= before.length && x - diagonal >= after.length) return walked(before, after, steps);
		}
	}
	return [...before.map(as('removed')), ...after.map(as('added'))];
}

const at = (reached: Reached, diagonal: number) => reached.get(diagonal) ?? -1;

function comesByAdding(reached: Reached, diagonal: number, step: number): boolean {
	if (diagonal === -step) return true;
	return diagonal !== step && at(reached, diagonal - 1) < at(reached, diagonal + 1);
}

/** The way that led to the end, from there back to the beginning. */
function walked(before: string[], after: string[], steps: Reached[]): Piece[] {
	const back: Piece[] = [];
	let [x, y] = [before.length, after.length];
	for (const [step, reached] of [...steps.entries()].reverse()) {
		const isAdded = comesByAdding(reached, x - y, step);
		const diagonal = x - y + (isAdded ? 1 : -1);
		const fromX = Math.max(0, at(reached, diagonal));
		const fromY = Math.max(0, at(reached, diagonal) - diagonal);
		while (x > fromX && y > fromY) {
			back.push({ kind: 'same', text: before[x - 1] ?? '' });
			[x, y] = [x - 1, y - 1];
		}
		if (step === 0) break;
		if (isAdded) back.push({ kind: 'added', text: after[(y -= 1)] ?? '' });
		else back.push({ kind: 'removed', text: before[(x -= 1)] ?? '' });
	}
	return back.reverse();
}
