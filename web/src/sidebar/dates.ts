/** Conversations by when something was last said in them, as people speak of days. */
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

/** Older than a month: by month, with the year where it is another than now. */
export function groupByDate(
	items: readonly ConversationSummary[],
	now: Date,
	names: Names,
	language: string
): Group[] {
	const recent: [since: Date, name: string][] = [
		[daysBefore(now, 0), names.today],
		[daysBefore(now, 1), names.yesterday],
		[daysBefore(now, 7), names.lastWeek],
		[daysBefore(now, 30), names.lastMonth]
	];
	let month: Intl.DateTimeFormat | undefined;
	let monthAndYear: Intl.DateTimeFormat | undefined;

	function nameOf(date: Date): string {
		const known = recent.find(([since]) => date >= since);
		if (known !== undefined) return known[1];
		// Made for those who have something that old: browsers take milliseconds to make one.
		if (date.getFullYear() === now.getFullYear()) {
			return (month ??= new Intl.DateTimeFormat(language, { month: 'long' })).format(date);
		}
		const both = { month: 'long', year: 'numeric' } as const;
		return (monthAndYear ??= new Intl.DateTimeFormat(language, both)).format(date);
	}

	const groups = new Map<string, ConversationSummary[]>();
	for (const item of items) {
		const name = nameOf(new Date(item.update_time * 1000));
		const group = groups.get(name);
		if (group === undefined) groups.set(name, [item]);
		else group.push(item);
	}
	return [...groups].map(([name, group]) => ({ name, items: group }));
}

/** Midnight at the beginning of the day, also where a day has 23 hours. */
function daysBefore(now: Date, days: number): Date {
	return new Date(now.getFullYear(), now.getMonth(), now.getDate() - days);
}
