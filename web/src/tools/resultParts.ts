/** Finds the tables in what a tool returned. Pure values: cells are text, never markup. */

export type ResultPart =
	{ kind: 'text'; text: string } | { kind: 'table'; head: string[]; rows: string[][] };

/** Longer results are shown as text: a table of them would hold up the page. */
const MAX_CHARS = 100_000;
const MAX_COLUMNS = 30;
const DIVIDER = /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)+\|?\s*$/;

export type ResultTable = Extract<ResultPart, { kind: 'table' }>;

export const findTables = (output: string): ResultTable[] =>
	splitResult(output).filter((part) => part.kind === 'table');

/** A list of flat JSON objects is a table, and so is a table in Markdown. */
export function splitResult(output: string): ResultPart[] {
	if (output.length > MAX_CHARS) return [{ kind: 'text', text: output }];
	const list = readJsonTable(output);
	return list === null ? readMarkdownTables(output) : [list];
}

function readJsonTable(output: string): ResultPart | null {
	if (!output.trimStart().startsWith('[')) return null;
	let items: unknown;
	try {
		items = JSON.parse(output);
	} catch {
		return null;
	}
	if (!Array.isArray(items) || items.length === 0 || !items.every(isFlat)) return null;
	const head = [...new Set(items.flatMap((item) => Object.keys(item)))];
	if (head.length === 0 || head.length > MAX_COLUMNS) return null;
	const rows = items.map((item) => head.map((name) => toCell(item[name])));
	return { kind: 'table', head, rows };
}

function isFlat(item: unknown): item is Record<string, string | number | boolean | null> {
	return (
		typeof item === 'object' &&
		item !== null &&
		!Array.isArray(item) &&
		Object.values(item).every((value) => value === null || typeof value !== 'object')
	);
}

const toCell = (value: string | number | boolean | null | undefined): string =>
	value === null || value === undefined ? '' : String(value);

function readMarkdownTables(output: string): ResultPart[] {
	const lines = output.split('\n');
	const parts: ResultPart[] = [];
	let text: string[] = [];
	const addText = () => {
		const joined = text.join('\n');
		if (joined.trim() !== '') parts.push({ kind: 'text', text: joined });
		text = [];
	};
	for (let at = 0; at < lines.length; at++) {
		const head = splitRow(lines[at] ?? '');
		if (head.length < 2 || head.length > MAX_COLUMNS || !DIVIDER.test(lines[at + 1] ?? '')) {
			text.push(lines[at] ?? '');
			continue;
		}
		addText();
		const rows: string[][] = [];
		for (at += 2; (lines[at] ?? '').includes('|'); at++) {
			const cells = splitRow(lines[at] ?? '');
			rows.push(head.map((_, i) => cells[i] ?? ''));
		}
		at -= 1;
		parts.push({ kind: 'table', head, rows });
	}
	addText();
	return parts;
}

function splitRow(line: string): string[] {
	if (!line.includes('|')) return [];
	const inside = line
		.trim()
		.replace(/^\|/, '')
		.replace(/(?<!\\)\|$/, '');
	return inside.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
