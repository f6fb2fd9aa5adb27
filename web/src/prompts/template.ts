/** What stands in a prompt: its versions side by side, its slots, and the line that is to blame. */
import type { Prompt, Slot, Written } from '$/prompts/calls';

/** Who wrote it, when and why is not known of what comes with hitsend. */
export type Version = Pick<Written, 'version' | 'template'> & { written: Written | null };

/** The newest first; what comes with hitsend is the oldest. */
export function versionsOf({ versions, shipped }: Prompt): Version[] {
	const { version, template } = shipped;
	const own = versions.map((written) => ({ ...written, written }));
	return [...own, { version, template, written: null }];
}

/** What puts a slot into a template. What may be empty is shown only where it is not. */
export function insertionFor({ name, kind, is_required }: Slot): string {
	if (kind === 'flag') return `{% if ${name} %}\n\n{% endif %}`;
	if (kind === 'list') return `{% for one in ${name} %}\n{{ one }}\n{% endfor %}`;
	return is_required ? `{{ ${name} }}` : `{% if ${name} %}\n{{ ${name} }}\n{% endif %}`;
}

/** Which line the server speaks of, if it speaks of one. */
export function lineIn(problem: string): number | null {
	const found = /^Line (\d+):/.exec(problem)?.[1];
	return found === undefined ? null : Number(found);
}

/** Where a line begins and ends, counted from 1. */
export function spanOf(text: string, line: number): [start: number, end: number] {
	const lines = text.split('\n');
	const before = lines.slice(0, line - 1);
	const start = Math.min(text.length, before.join('\n').length + (before.length > 0 ? 1 : 0));
	return [start, start + (lines[line - 1] ?? '').length];
}
