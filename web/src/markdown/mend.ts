/**
 * The end of a growing text, as it will probably go on: what is open is closed, and what
 * cannot be told yet is held back for a moment. Without this the page flickers: a list that
 * begins would be a heading for an instant, bold words would show their stars.
 */

/** Only the last line is looked at, and only outside of code and formulas. */
export function mend(text: string): string {
	const open = openFence(text);
	if (open !== null) return /[`~]/.test(open.mark) ? text : source(text, open);
	const start = text.lastIndexOf('\n') + 1;
	const line = text.slice(start);
	const before = text.slice(0, start);
	if (/^ {0,3}(?:`{1,2}|~{1,2}|[-=]{1,2}|\$)$/.test(line)) return before;
	if (isTableHead(before, line)) return `${text}\n${dashes(line)}`;
	if (/^\s*\|/.test(line) && !line.endsWith('|')) return `${before}${closed(line)} |`;
	return before + closed(line);
}

interface Fence {
	mark: string;
	index: number;
}

/** A fence that was opened and not closed: everything after it is code, or a formula. */
function openFence(text: string): Fence | null {
	const opening = /^ {0,12}(`{3,}|~{3,}|\$\$|\\\[)/gm;
	for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
		const { 1: mark = '', index } = match;
		const closing = closingOf(mark);
		closing.lastIndex = opening.lastIndex;
		if (!closing.test(text)) return { mark, index };
		opening.lastIndex = closing.lastIndex;
	}
	return null;
}

/** Code ends with a line of its own, a formula anywhere. */
function closingOf(mark: string): RegExp {
	if (mark === '$$') return /\$\$/g;
	if (mark === '\\[') return /\\\]/g;
	return new RegExp(`^ {0,12}${mark}`, 'gm');
}

/** A formula that is not whole cannot be drawn: until then it is shown as it is written. */
function source(text: string, { mark, index }: Fence): string {
	const formula = text.slice(index).replace(mark, '').replace(/^\n/, '');
	return /\n\s*\n/.test(formula) ? text : `${text.slice(0, index)}\`\`\`latex\n${formula}`;
}

function isTableHead(before: string, line: string): boolean {
	return /^ {0,3}\|.*\|\s*$/.test(line) && (before === '' || before.endsWith('\n\n'));
}

function dashes(line: string): string {
	return line.replaceAll(/[^|]+/g, ' --- ');
}

function closed(line: string): string {
	if (isOdd(line, /`+/g))
		return closed(/`\s*$/.test(line) ? line.replace(/`+\s*$/, '') : `${line}\``);
	const words = line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length));
	const link = /!?\[([^\]]*)\]\([^)\s]*$/.exec(words);
	if (link !== null) return closed(line.slice(0, link.index) + (link[1] ?? ''));
	for (const mark of ['**', '__', '~~']) {
		if ((words.split(mark).length - 1) % 2 === 0) continue;
		const isBare = words.trimEnd().endsWith(mark);
		return isBare ? line.trimEnd().slice(0, -mark.length) : line.trimEnd() + mark;
	}
	return line;
}

function isOdd(line: string, mark: RegExp): boolean {
	return (line.match(mark)?.length ?? 0) % 2 === 1;
}
