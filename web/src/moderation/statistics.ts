/** Adds up the counts of the safety checks. Pure. */
import type { SafetyOutcome } from '$/api/events.gen';
import type { OutcomeCount } from '$/api/wire';

/** The outcomes that a chart tells apart, from the bottom up. */
export const SHADES = {
	allowed: ['allow'],
	careful: ['redact', 'caution', 'rewrite', 'review'],
	stopped: ['cut', 'block']
} satisfies Record<string, SafetyOutcome[]>;
export type Shade = keyof typeof SHADES;

export interface Summary {
	num: number;
	/** How many of them the checks did more about than allow. */
	numActed: number;
	numIncomplete: number;
	/** Null where nothing had a score. */
	meanScore: number | null;
	meanMs: number;
	mostMs: number;
}

export interface Day {
	/** As `2026-11-20`, in UTC. */
	day: string;
	outcomes: Partial<Record<SafetyOutcome, number>>;
}

export interface Group extends Summary {
	key: string;
	first: OutcomeCount;
}

const DAY_MS = 86_400_000;

export function summarise(counts: OutcomeCount[]): Summary {
	const num = sum(counts, (one) => one.num);
	const scored = counts.filter(({ mean_score }) => mean_score !== null);
	const numScored = sum(scored, (one) => one.num);
	return {
		num,
		numActed: sum(counts, (one) => (one.outcome === 'allow' ? 0 : one.num)),
		numIncomplete: sum(counts, (one) => one.num_incomplete),
		meanScore:
			numScored === 0 ? null : sum(scored, (one) => (one.mean_score ?? 0) * one.num) / numScored,
		meanMs: num === 0 ? 0 : sum(counts, (one) => one.mean_ms * one.num) / num,
		mostMs: Math.max(0, ...counts.map((one) => one.most_ms))
	};
}

/** Every day up to today, the oldest first. */
export function listDays(counts: OutcomeCount[], numDays: number, now = Date.now()): Day[] {
	const today = Math.floor(now / DAY_MS);
	return Array.from({ length: numDays }, (_, i) => {
		const number = today - numDays + 1 + i;
		const outcomes: Day['outcomes'] = {};
		for (const { day, outcome, num } of counts) {
			if (day === number) outcomes[outcome] = (outcomes[outcome] ?? 0) + num;
		}
		return { day: new Date(number * DAY_MS).toISOString().slice(0, 10), outcomes };
	});
}

export function countShade({ outcomes }: Day, shade: Shade): number {
	return SHADES[shade].reduce((total, outcome) => total + (outcomes[outcome] ?? 0), 0);
}

/** The most frequent group first. */
export function groupBy(counts: OutcomeCount[], keyOf: (count: OutcomeCount) => string): Group[] {
	const groups = new Map<string, OutcomeCount[]>();
	for (const count of counts) {
		const key = keyOf(count);
		groups.set(key, [...(groups.get(key) ?? []), count]);
	}
	return [...groups]
		.flatMap(([key, members]) =>
			members.slice(0, 1).map((first) => ({ key, first, ...summarise(members) }))
		)
		.sort((one, other) => other.num - one.num);
}

function sum(counts: OutcomeCount[], read: (count: OutcomeCount) => number): number {
	return counts.reduce((total, count) => total + read(count), 0);
}
