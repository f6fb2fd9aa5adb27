/** Describes the call of a tool in one line: what is done, and what came of it. */
import { findState, getOutput, getResult, type ToolUse, type UseState } from '$/state/answerParts';
import { readable } from '$/state/featureNames';
import { splitResult } from '$/tools/resultParts';
import type { Words } from '$/words/words';

export interface UseLine {
	label: string;
	/** What came of it, or what the tool reported last. */
	summary: string;
	tone: 'busy' | 'done' | 'problem' | 'asking';
}

/** `canDecide`: the person can still allow or refuse the call. */
export function describeUse(
	use: ToolUse,
	isRunning: boolean,
	canDecide: boolean,
	t: Words
): UseLine {
	const state = findState(use, isRunning);
	const { calls } = t.tools;
	const result = getResult(use);
	const tool = readable(use.call.tool);
	const server = result?.server === undefined ? '' : ` ${calls.on(result.server)}`;
	const known = calls.byTool[use.call.tool];
	switch (state) {
		case 'writing':
		case 'running': {
			const label = known?.doing ?? calls.doing(tool) + server;
			return { label: `${label}…`, summary: getLastLine(result?.progress ?? ''), tone: 'busy' };
		}
		case 'done':
			return {
				label: known?.done ?? calls.done(tool) + server,
				summary: summarise(use, t),
				tone: 'done'
			};
		case 'asking':
			return canDecide
				? { label: calls.asking(tool), summary: '', tone: 'asking' }
				: { label: calls.undecided(tool), summary: '', tone: 'problem' };
		case 'form':
			return { label: calls.asking(tool), summary: '', tone: 'asking' };
		case 'failed':
			return { label: calls.failed(tool), summary: getFirstLine(getOutput(use)), tone: 'problem' };
		case 'invalid':
		case 'refused':
		case 'stopped':
		case 'interrupted':
			return { label: calls[state](tool), summary: '', tone: 'problem' };
		default:
			return state satisfies never;
	}
}

/** A page or a search is told by its sources, a table by its size, all else by its first line. */
function summarise(use: ToolUse, t: Words): string {
	const sources = getResult(use)?.sources ?? [];
	if (sources.length > 0) return t.tools.calls.sources(sources.length);
	const output = getOutput(use);
	const first = splitResult(output)[0];
	if (first?.kind === 'table') {
		return t.tools.calls
			.table(first.rows.length, first.head.join(', '))
			.slice(0, MAX_SUMMARY_CHARS);
	}
	return describeJson(output) ?? getFirstLine(first?.text ?? '');
}

const MAX_SUMMARY_CHARS = 160;
const MAX_JSON_CHARS = 10_000;
/** Of Markdown: a heading, a quote, an item of a list, a fence. */
const LINE_MARKS = /^(?:#{1,6}\s+|>\s+|[-*]\s+|`{3,}.*$)/;

/** An object by its fields, a list by its items; null for what is neither. */
function describeJson(output: string): string | null {
	if (output.length > MAX_JSON_CHARS || !/^\s*[[{]/.test(output)) return null;
	try {
		const entries = Object.entries(JSON.parse(output) as object);
		const isList = output.trimStart().startsWith('[');
		const told = entries.map(([name, value]) => (isList ? '' : `${name}: `) + toShort(value));
		return told.join(', ').slice(0, MAX_SUMMARY_CHARS);
	} catch {
		return null;
	}
}

const toShort = (value: unknown): string =>
	typeof value === 'object' && value !== null ? '…' : String(value);

function getFirstLine(text: string): string {
	const lines = splitLines(text.slice(0, 1_000)).map((line) => line.replace(LINE_MARKS, ''));
	return lines.find((line) => line !== '')?.slice(0, MAX_SUMMARY_CHARS) ?? '';
}

function getLastLine(text: string): string {
	return splitLines(text.slice(-1_000)).at(-1)?.slice(0, MAX_SUMMARY_CHARS) ?? '';
}

function splitLines(text: string): string[] {
	return text
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '');
}

/** Whether there is anything to open. A call that is still written has nothing. */
export function hasDetails(state: UseState): boolean {
	return state !== 'writing';
}
