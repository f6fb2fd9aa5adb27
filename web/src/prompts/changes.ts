/** One line of the log of changes, in words. */
import type { Change } from '$/prompts/calls';
import type { PromptWords } from '$/words/prompts';

/** What this page does not know yet is told as the server names it. */
export function saidOf(
	{ name, action, subject, detail, at }: Change,
	all: PromptWords
): { title: string; details: string[] } {
	const t = all.changes;
	const what = t.actions[action] ?? action;
	const on = all.known[subject]?.name ?? subject;
	const details = Object.entries(detail).flatMap(([key, value]) => {
		if (key === 'experiment') return [];
		if (value === 'shipped') return [t.shipped];
		if (key === 'sampling') return [decodingOf(value)];
		return [t.details[key]?.(value) ?? `${key}: ${value}`];
	});
	return { title: t.line(name ?? all.somebody, what, on), details: [...details, whenOf(at)] };
}

/** The server keeps it as JSON. */
function decodingOf(sampling: string): string {
	const set = Object.entries(JSON.parse(sampling) as Record<string, unknown>);
	return set.map(([name, value]) => `${name} ${String(value)}`).join(', ');
}

function whenOf(seconds: number): string {
	const language = document.documentElement.lang || 'en';
	const style = { dateStyle: 'medium', timeStyle: 'short' } as const;
	return new Date(seconds * 1_000).toLocaleString(language, style);
}
