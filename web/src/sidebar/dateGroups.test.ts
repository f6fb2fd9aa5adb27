import { expect, test } from 'vitest';
import { groupByDate } from '$/sidebar/dateGroups';

const NAMES = {
	today: 'Today',
	yesterday: 'Yesterday',
	lastWeek: 'Previous 7 days',
	lastMonth: 'Previous 30 days'
};
const NOW = new Date(2026, 2, 30, 9, 30);

function createConversations(...times: Date[]) {
	return times.map((time, i) => ({
		id: `c${i}`,
		title: '',
		update_time: time.getTime() / 1000,
		is_archived: false,
		is_pinned: false,
		folder_id: null
	}));
}

const nameGroups = (language: string, ...times: Date[]) =>
	groupByDate(createConversations(...times), NOW, NAMES, language).map(({ name }) => name);

test.each([
	['a minute ago', new Date(2026, 2, 30, 9, 29), 'Today'],
	['just after midnight', new Date(2026, 2, 30, 0, 0), 'Today'],
	['a minute before midnight', new Date(2026, 2, 29, 23, 59), 'Yesterday'],
	['at the beginning of yesterday', new Date(2026, 2, 29), 'Yesterday'],
	['two days ago', new Date(2026, 2, 28, 23, 59), 'Previous 7 days'],
	['a week ago', new Date(2026, 2, 23), 'Previous 7 days'],
	['eight days ago', new Date(2026, 2, 22, 23, 59), 'Previous 30 days'],
	['thirty days ago', new Date(2026, 1, 28), 'Previous 30 days'],
	['in February', new Date(2026, 1, 27), 'February'],
	['last December', new Date(2025, 11, 31), 'December 2025'],
	['on a clock that runs ahead', new Date(2026, 2, 31), 'Today']
])('a conversation updated %s', (_, time, expected) => {
	expect(nameGroups('en', time)).toEqual([expected]);
});

test('months are named in the language of the page', () => {
	expect(nameGroups('de', new Date(2026, 0, 5), new Date(2025, 2, 5))).toEqual([
		'Januar',
		'März 2025'
	]);
});

test('groups keep the order, and each name occurs once', () => {
	const [today, yesterday] = [new Date(2026, 2, 30), new Date(2026, 2, 29)];
	const groups = groupByDate(createConversations(today, yesterday, today), NOW, NAMES, 'en');

	expect(groups.map(({ items }) => items.map(({ id }) => id))).toEqual([['c0', 'c2'], ['c1']]);
});
