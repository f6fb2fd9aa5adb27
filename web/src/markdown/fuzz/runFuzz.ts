/** Parses and draws generated documents in a browser. Only tests load this, from the development server. */
import { mount } from 'svelte';
import { Blocks } from '$/markdown/blocks';
import FuzzTarget from '$/markdown/fuzz/FuzzTarget.svelte';
import { createDocument } from '$/markdown/fuzz/documents';
import { fetchProse } from '$/markdown/prose';

/** Characters of one document that are parsed again and again. After it, the rest comes in a few steps. */
const MAX_WORK = 200_000;
const NUM_STEPS = 6;
/** Blocks at the end that every read parses again. */
const NUM_UNSETTLED = 2;

export interface FuzzOptions {
	/**
	 * Documents are streamed at every split while their unsettled end is about this long. Where it is
	 * longer, splits are left out in proportion, so the work grows with the length and not its square.
	 */
	maxUnsettled: number;
	/** Every document is parsed, one of so many is also drawn. The longest ones are among them. */
	numPerDrawn: number;
	limitMs: number;
}

export interface SlowDocument {
	number: number;
	ms: number;
	text: string;
}

export interface FuzzReport {
	/** The documents that took longer than the limit. */
	slow: SlowDocument[];
	numDocuments: number;
	/** Streamed at every split. */
	numStreamedWhole: number;
	numSplits: number;
	numSplitsRead: number;
}

/** Reads and draws the documents with numbers in a range. */
export async function runFuzz(
	seed: number,
	first: number,
	end: number,
	{ maxUnsettled, numPerDrawn, limitMs }: FuzzOptions
): Promise<FuzzReport> {
	await fetchProse();
	const box = document.createElement('div');
	document.body.replaceChildren(box);
	const target = mount(FuzzTarget, { target: box }) as Target;
	const report: FuzzReport = {
		slow: [],
		numDocuments: end - first,
		numStreamedWhole: 0,
		numSplits: 0,
		numSplitsRead: 0
	};
	for (let number = first; number < end; number++) {
		const text = createDocument(seed, number);
		const startedAt = performance.now();
		const numRead = readSplits(text, maxUnsettled);
		report.numStreamedWhole += numRead === text.length ? 1 : 0;
		report.numSplits += text.length;
		report.numSplitsRead += numRead;
		if ((number + 1) % numPerDrawn === 0) await drawDocument(target, box, text);
		const ms = performance.now() - startedAt;
		if (ms > limitMs) report.slow.push({ number, ms, text: text.slice(0, 200) });
	}
	return report;
}

interface Target {
	clear: () => void;
	draw: (text: string, isFinished: boolean) => void;
}

async function drawDocument(target: Target, box: HTMLElement, text: string): Promise<void> {
	target.clear();
	target.draw(text.slice(0, text.length / 2), false);
	target.draw(text, true);
	await waitForFormulas();
	box.getBoundingClientRect(); // makes the browser lay it out
}

/** Returns the number of splits that were read. */
function readSplits(text: string, maxUnsettled: number): number {
	const blocks = new Blocks();
	let numRead = 1;
	let work = 0;
	for (let length = 1; length < text.length; numRead++) {
		const shown = blocks.read(text.slice(0, length), false);
		const unsettled = shown
			.slice(-NUM_UNSETTLED)
			.reduce((sum, { source }) => sum + source.length, 0);
		work += unsettled;
		const step = Math.max(1, Math.floor(unsettled / maxUnsettled));
		length += work > MAX_WORK ? Math.ceil(text.length / NUM_STEPS) : step;
	}
	blocks.read(text, true);
	return numRead;
}

/** Formulas are drawn some microtasks later, once KaTeX is loaded. */
async function waitForFormulas(): Promise<void> {
	for (let i = 0; i < 8; i++) await Promise.resolve();
}
