/** Describes one entry of the audit log. */
import type { AuditEntry } from '$/api/wire';
import type { PromptWords } from '$/words/prompts';

/** Falls back to the server's names for actions and details this page does not know. */
export function describeAuditEntry(
	{ actor_name, event, at }: AuditEntry,
	all: PromptWords
): { title: string; details: string[] } {
	const t = all.changes;
	const verb = t.actions[event.kind] ?? event.kind;
	const subject = 'prompt' in event ? event.prompt : '';
	const target = all.known[subject]?.name ?? subject;
	const details = Object.entries(event).flatMap(([key, value]) => {
		if (['kind', 'prompt', 'experiment_id'].includes(key)) return [];
		if (key === 'winner') return [t.details[key]?.(String(value ?? 'none')) ?? ''];
		if (value === null) return [t.shipped];
		if (key === 'sampling') return [describeSampling(value as Record<string, unknown>)];
		return [t.details[key]?.(String(value)) ?? `${key}: ${String(value)}`];
	});
	return {
		title: t.line(actor_name ?? all.somebody, verb, target),
		details: [...details, formatTime(at)]
	};
}

function describeSampling(sampling: Record<string, unknown>): string {
	return Object.entries(sampling)
		.map(([name, value]) => `${name} ${String(value)}`)
		.join(', ');
}

function formatTime(seconds: number): string {
	const language = document.documentElement.lang || 'en';
	const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
	return new Date(seconds * 1_000).toLocaleString(language, style);
}
