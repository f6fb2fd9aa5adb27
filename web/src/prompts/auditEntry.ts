/** Describes one entry of the audit log. */
import type { AuditEntry } from '$/api/wire';
import type { PromptWords } from '$/words/prompts';

/** Falls back to the server's names for actions and details this page does not know. */
export function describeAuditEntry(
	{ name, action, subject, detail, at }: AuditEntry,
	all: PromptWords
): { title: string; details: string[] } {
	const t = all.changes;
	const verb = t.actions[action] ?? action;
	const target = all.known[subject]?.name ?? subject;
	const details = Object.entries(detail).flatMap(([key, value]) => {
		if (key === 'experiment') return [];
		if (value === 'shipped') return [t.shipped];
		if (key === 'sampling') return [describeSampling(value)];
		return [t.details[key]?.(value) ?? `${key}: ${value}`];
	});
	return {
		title: t.line(name ?? all.somebody, verb, target),
		details: [...details, formatTime(at)]
	};
}

/** `sampling` is JSON. */
function describeSampling(sampling: string): string {
	const entries = Object.entries(JSON.parse(sampling) as Record<string, unknown>);
	return entries.map(([name, value]) => `${name} ${String(value)}`).join(', ');
}

function formatTime(seconds: number): string {
	const language = document.documentElement.lang || 'en';
	const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
	return new Date(seconds * 1_000).toLocaleString(language, style);
}
