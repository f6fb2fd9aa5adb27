import { expect, test } from 'vitest';
import type { Difference, Mean, Variant } from '$/prompts/calls';
import { barsOf, verdictOf } from '$/prompts/verdict';
import { promptWords } from '$/words/prompts';

const t = promptWords('en').report;
const variant = (version: number, num_people: number): Variant => ({
	version,
	num_people,
	num_turns: num_people,
	num_up: 0,
	num_down: 0,
	num_declined: 0,
	means: {}
});
const difference = (some: Partial<Difference>): Difference => ({
	version: 1001,
	measure: 'liked',
	low: -0.1,
	high: 0.2,
	verdict: 'unclear',
	...some
});
const mean = (value: number, low: number | null, high: number | null): Mean => ({
	value,
	low,
	high,
	num_people: 9
});

test('with too few people nothing is told, and who is lacking is', () => {
	const variants = [variant(1, 9), variant(1001, 4)];
	const told = verdictOf({ variants, differences: [], min_people: 5 }, t);
	expect(told).toEqual([
		'Nothing can be told yet: each version needs at least 5 people, and version 1001 has 4.'
	]);
});

test('what chance could have made is no difference', () => {
	const variants = [variant(1, 9), variant(1001, 9)];
	const told = verdictOf({ variants, differences: [difference({})], min_people: 5 }, t);
	expect(told).toEqual([t.unclear]);
});

test('each difference beyond chance is told with how large it is', () => {
	const told = verdictOf(
		{
			variants: [variant(1, 50), variant(1001, 50)],
			differences: [
				difference({ low: 0.05, high: 0.2, verdict: 'better' }),
				difference({ measure: 'seconds', low: -2, high: -1.5, verdict: 'better' }),
				difference({ measure: 'declined' })
			],
			min_people: 5
		},
		t
	);
	expect(told).toEqual([
		'Version 1001 against version 1: better (Thumbs up, of those who gave any, a difference of 5 to 20 points).',
		'Version 1001 against version 1: better (Time to the last word, a difference of 1.5\u00a0s to 2\u00a0s).'
	]);
});

test('nothing takes less than no time', () => {
	expect(barsOf('seconds', [mean(2, -1, 4)])).toEqual([{ start: 0, width: 100, mark: 50 }]);
});

test('shares are drawn from none to all', () => {
	expect(barsOf('liked', [mean(0.5, 0.25, 0.75), undefined])).toEqual([
		{ start: 25, width: 50, mark: 50 },
		null
	]);
});

test('anything else is drawn as far as the bars reach', () => {
	expect(barsOf('seconds', [mean(2, 1, 3), mean(5, null, null)])).toEqual([
		{ start: 0, width: 50, mark: 25 },
		{ start: 100, width: 0, mark: 100 }
	]);
	expect(barsOf('seconds', [mean(2, null, null)])).toEqual([{ start: 50, width: 0, mark: 50 }]);
});
