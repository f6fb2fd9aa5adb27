/** Groups conversations by the date of their last message. */
import type { ConversationSummary } from '$/api/wire';

interface Group {
	name: string;
	items: ConversationSummary[];
}

interface Names {
	today: string;
	yesterday: string;
	lastWeek: string;
	lastMonth: string;
}

/** Groups older than 30 days are months, with the year if it is not the current one. */
export function groupByDate(
	items: readonly ConversationSummary[],
	now: Date,
	names: Names,
	language: string
): Group[] {
	const recent: [since: Date, name: string][] = [
		[subtractDays(now, 0), names.today],
		[subtractDays(now, 1), names.yesterday],
		[subtractDays(now, 7), names.lastWeek],
		[subtractDays(now, 30), names.lastMonth]
	];
	let month: Intl.DateTimeFormat | undefined;
	let monthAndYear: Intl.DateTimeFormat | undefined;

	function nameGroup(date: Date): string {
		const match = recent.find(([since]) => date >= since);
		if (match !== undefined) return match[1];
		// Created only when needed: browsers take milliseconds to create one.
		if (date.getFullYear() === now.getFullYear()) {
			return (month ??= new Intl.DateTimeFormat(language, { month: 'long' })).format(date);
		}
		const both = { month: 'long', year: 'numeric' } as const;
		return (monthAndYear ??= new Intl.DateTimeFormat(language, both)).format(date);
	}

	const groups = new Map<string, ConversationSummary[]>();
	for (const item of items) {
		const name = nameGroup(new Date(item.update_time * 1000));
		const group = groups.get(name);
		if (group === undefined) groups.set(name, [item]);
		else group.push(item);
	}
	return [...groups].map(([name, group]) => ({ name, items: group }));
}

/** The local midnight so many days ago, also across daylight saving time. */
function subtractDays(now: Date, days: number): Date {
	return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
}
