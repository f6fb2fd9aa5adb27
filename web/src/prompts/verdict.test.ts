import { expect, test } from 'vitest';
import type { Difference, Mean, Variant } from '$/api/wire';
import { layOutBars, describeVerdict } from '$/prompts/verdict';
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

test('with too few people there is no verdict, and the versions that lack people are named', () => {
	const variants = [variant(1, 9), variant(1001, 4)];
	const sentences = describeVerdict({ variants, differences: [], min_people: 5 }, t);
	expect(sentences).toEqual([
		'Nothing can be told yet: each version needs at least 5 people, and version 1001 has 4.'
	]);
});

test('a difference within the interval is not reported', () => {
	const variants = [variant(1, 9), variant(1001, 9)];
	const sentences = describeVerdict({ variants, differences: [difference({})], min_people: 5 }, t);
	expect(sentences).toEqual([t.unclear]);
});

test('each significant difference is reported with its size', () => {
	const sentences = describeVerdict(
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
	expect(sentences).toEqual([
		'Version 1001 against version 1: better (Thumbs up, of those who gave any, a difference of 5 to 20 points).',
		'Version 1001 against version 1: better (Time to the last word, a difference of 1.5\u00a0s to 2\u00a0s).'
	]);
});

test('an interval is cut at zero', () => {
	expect(layOutBars('seconds', [mean(2, -1, 4)])).toEqual([{ start: 0, width: 100, mark: 50 }]);
});

test('shares are drawn on a scale from 0 to 1', () => {
	expect(layOutBars('liked', [mean(0.5, 0.25, 0.75), undefined])).toEqual([
		{ start: 25, width: 50, mark: 50 },
		null
	]);
});

test('other measures are drawn on the scale of their values', () => {
	expect(layOutBars('seconds', [mean(2, 1, 3), mean(5, null, null)])).toEqual([
		{ start: 0, width: 50, mark: 25 },
		{ start: 100, width: 0, mark: 100 }
	]);
	expect(layOutBars('seconds', [mean(2, null, null)])).toEqual([{ start: 50, width: 0, mark: 50 }]);
});
