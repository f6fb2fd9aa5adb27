/** Helpers for prompt templates: versions, slots and the line of an error. */
import type { Prompt, PromptVersion, Slot } from '$/api/wire';

/** `saved` is null for the shipped version, which has no author, date or note. */
export type Version = Pick<PromptVersion, 'version' | 'template'> & { saved: PromptVersion | null };

/** Newest first; the shipped version comes last. */
export function listVersions({ versions, shipped }: Prompt): Version[] {
	const { version, template } = shipped;
	const own = versions.map((saved) => ({ ...saved, saved }));
	return [...own, { version, template, saved: null }];
}

/** The template code that inserts a slot. An optional slot is wrapped in a condition. */
export function buildSlotMarkup({ name, kind, is_required }: Slot): string {
	if (kind === 'flag') return `{% if ${name} %}\n\n{% endif %}`;
	if (kind === 'list') return `{% for one in ${name} %}\n{{ one }}\n{% endfor %}`;
	return is_required ? `{{ ${name} }}` : `{% if ${name} %}\n{{ ${name} }}\n{% endif %}`;
}

/** The line number in the server's error message, or null. */
export function parseErrorLine(problem: string): number | null {
	const line = /^Line (\d+):/.exec(problem)?.[1];
	return line === undefined ? null : Number(line);
}

/** The start and end offset of a line, counted from 1. */
export function findLineSpan(text: string, line: number): [start: number, end: number] {
	const lines = text.split('\n');
	const before = lines.slice(0, line - 1);
	const start = Math.min(text.length, before.join('\n').length + (before.length > 0 ? 1 : 0));
	return [start, start + (lines[line - 1] ?? '').length];
}
