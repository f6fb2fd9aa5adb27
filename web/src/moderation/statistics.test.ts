import { expect, test } from 'vitest';
import type { OutcomeCount } from '$/api/wire';
import { countShade, groupBy, listDays, summarise } from '$/moderation/statistics';

const count = (more: Partial<OutcomeCount>): OutcomeCount => ({
	day: 20_000,
	stage: 'prompt',
	outcome: 'allow',
	category: null,
	model: 'scripted',
	prompt_version: 1,
	num: 1,
	num_incomplete: 0,
	mean_score: null,
	mean_ms: 1,
	most_ms: 1,
	...more
});

test('means count every text once', () => {
	const blocked = { outcome: 'block', mean_score: 0.9, mean_ms: 4, most_ms: 9 } as const;
	const doubtful = { outcome: 'caution', num: 3, mean_score: 0.5, mean_ms: 8 } as const;
	expect(summarise([count({ num: 4 }), count(blocked), count(doubtful)])).toEqual({
		num: 8,
		numActed: 4,
		numIncomplete: 0,
		meanScore: 0.6,
		meanMs: 4,
		mostMs: 9
	});
	expect(summarise([]).meanScore).toBeNull();
});

test('days without anything are there too, the oldest first', () => {
	const days = listDays(
		[count({ num: 2 }), count({ outcome: 'cut' }), count({ day: 19_998, outcome: 'review' })],
		3,
		20_000 * 86_400_000 + 1
	);
	expect(days.map(({ day }) => day)).toEqual(['2024-10-02', '2024-10-03', '2024-10-04']);
	expect(days.map((day) => countShade(day, 'allowed'))).toEqual([0, 0, 2]);
	expect(days.map((day) => countShade(day, 'careful'))).toEqual([1, 0, 0]);
	expect(days.map((day) => countShade(day, 'stopped'))).toEqual([0, 0, 1]);
});

test('groups come by size', () => {
	const groups = groupBy(
		[count({ model: 'a' }), count({ model: 'b', num: 2 }), count({ model: 'a', outcome: 'cut' })],
		({ model }) => model
	);
	expect(groups.map(({ key, num, numActed }) => [key, num, numActed])).toEqual([
		['a', 2, 1],
		['b', 2, 0]
	]);
});
