/**
 * Closes the unfinished Markdown at the end of a growing text, and holds back an ambiguous last line.
 * Without this the page flickers: the start of a list would be a heading for an instant, and bold text
 * would show its asterisks.
 */

/** Looks only at the last line, and only outside of code and formulas. */
export function closeMarkdown(text: string): string {
	const open = findOpenFence(text);
	if (open !== null) return /[`~]/.test(open.mark) ? text : showFormulaSource(text, open);
	const start = text.lastIndexOf('\n') + 1;
	const line = text.slice(start);
	const before = text.slice(0, start);
	if (/^ {0,3}(?:`{1,2}|~{1,2}|[-=]{1,2}|\$)$/.test(line)) return before;
	if (isTableHead(before, line)) return `${text}\n${buildTableRule(line)}`;
	if (/^\s*\|/.test(line) && !line.endsWith('|')) return `${before}${closeLine(line)} |`;
	return before + closeLine(line);
}

interface Fence {
	mark: string;
	index: number;
}

/** The fence that is still open: everything after it is code or a formula. */
function findOpenFence(text: string): Fence | null {
	const opening = /^ {0,12}(`{3,}|~{3,}|\$\$|\\\[)/gm;
	for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
		const { 1: mark = '', index } = match;
		const closing = buildClosingPattern(mark);
		closing.lastIndex = opening.lastIndex;
		if (!closing.test(text)) return { mark, index };
		opening.lastIndex = closing.lastIndex;
	}
	return null;
}

/** Code is closed by a line of its own, a formula anywhere. */
function buildClosingPattern(mark: string): RegExp {
	if (mark === '$$') return /\$\$/g;
	if (mark === '\\[') return /\\\]/g;
	return new RegExp(`^ {0,12}${mark}`, 'gm');
}

/** Shows an incomplete formula as its source, because it cannot be drawn yet. */
function showFormulaSource(text: string, { mark, index }: Fence): string {
	const formula = text.slice(index).replace(mark, '').replace(/^\n/, '');
	return /\n\s*\n/.test(formula) ? text : `${text.slice(0, index)}\`\`\`latex\n${formula}`;
}

function isTableHead(before: string, line: string): boolean {
	return /^ {0,3}\|.*\|\s*$/.test(line) && (before === '' || before.endsWith('\n\n'));
}

function buildTableRule(line: string): string {
	return line.replaceAll(/[^|]+/g, ' --- ');
}

/** A longer line is left as it is: closing it takes quadratic time. */
const MAX_LINE_CHARS = 4_000;

function closeLine(line: string): string {
	if (line.length > MAX_LINE_CHARS) return line;
	if (isOdd(line, /`+/g))
		return closeLine(/`\s*$/.test(line) ? line.replace(/`+\s*$/, '') : `${line}\``);
	const withoutCode = line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length));
	const link = /!?\[([^\]]*)\]\([^)\s]*$/.exec(withoutCode);
	if (link !== null) return closeLine(line.slice(0, link.index) + (link[1] ?? ''));
	for (const mark of ['**', '__', '~~']) {
		if ((withoutCode.split(mark).length - 1) % 2 === 0) continue;
		const hasNoText = withoutCode.trimEnd().endsWith(mark);
		return hasNoText ? line.trimEnd().slice(0, -mark.length) : line.trimEnd() + mark;
	}
	return line;
}

function isOdd(line: string, mark: RegExp): boolean {
	return (line.match(mark)?.length ?? 0) % 2 === 1;
}
