/** Parses and draws generated documents in a browser. Only tests load this, from the development server. */
import { mount } from 'svelte';
import { Blocks } from '$/markdown/blocks';
import FuzzTarget from '$/markdown/fuzz/FuzzTarget.svelte';
import { createDocument } from '$/markdown/fuzz/documents';
import { fetchProse } from '$/markdown/prose';

/** Longer documents are streamed in a few steps: reading one at every split is quadratic. */
const NUM_STEPS = 6;

export interface FuzzOptions {
	/** Documents up to this length are streamed at every split. */
	maxSplitEverywhere: number;
	/** Every document is parsed, one of so many is also drawn. The longest ones are among them. */
	numPerDrawn: number;
	limitMs: number;
}

export interface SlowDocument {
	number: number;
	ms: number;
	text: string;
}

/** Returns the documents that took longer than the limit, of those with numbers in a range. */
export async function runFuzz(
	seed: number,
	first: number,
	end: number,
	{ maxSplitEverywhere, numPerDrawn, limitMs }: FuzzOptions
): Promise<SlowDocument[]> {
	await fetchProse();
	const box = document.createElement('div');
	document.body.replaceChildren(box);
	const target = mount(FuzzTarget, { target: box }) as Target;
	const slow: SlowDocument[] = [];
	for (let number = first; number < end; number++) {
		const text = createDocument(seed, number);
		const startedAt = performance.now();
		readSplits(text, maxSplitEverywhere);
		if ((number + 1) % numPerDrawn === 0) await drawDocument(target, box, text);
		const ms = performance.now() - startedAt;
		if (ms > limitMs) slow.push({ number, ms, text: text.slice(0, 200) });
	}
	return slow;
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

function readSplits(text: string, maxSplitEverywhere: number): void {
	const blocks = new Blocks();
	const step = text.length <= maxSplitEverywhere ? 1 : Math.ceil(text.length / NUM_STEPS);
	for (let length = 1; length < text.length; length += step) {
		blocks.read(text.slice(0, length), false);
	}
	blocks.read(text, true);
}

/** Formulas are drawn some microtasks later, once KaTeX is loaded. */
async function waitForFormulas(): Promise<void> {
	for (let i = 0; i < 8; i++) await Promise.resolve();
}
