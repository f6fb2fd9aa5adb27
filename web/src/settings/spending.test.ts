// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import {
	AMOUNTS,
	COUNTS,
	cachedShareOf,
	dayName,
	hasCost,
	money,
	mostFirst,
	problemWith,
	roundedUp,
	typedNumber
} from '$/settings/spending';
import { spendingWords } from '$/words/spending';

const NOTHING = {
	num_turns: 0,
	num_input_tokens: 0,
	num_cached_tokens: 0,
	num_output_tokens: 0,
	cost: 0
};
const t = spendingWords('en');

beforeEach(() => (document.documentElement.lang = 'en'));

test.each([
	['', null],
	['  ', null],
	['0', 0],
	['50000', 50_000],
	['50.000', 50_000],
	['1,000,000', 1_000_000],
	['50 000', 50_000]
])('%j is the whole number %j', (typed, value) => {
	expect(typedNumber(typed, COUNTS)).toBe(value);
	expect(problemWith(typed, COUNTS, t)).toBeNull();
});

test.each([
	['0.5', 0.5],
	['0,25', 0.25],
	['.1', 0.1],
	['1000000', 1_000_000]
])('%j is the amount %j', (typed, value) => {
	expect(typedNumber(typed, AMOUNTS)).toBe(value);
	expect(problemWith(typed, AMOUNTS, t)).toBeNull();
});

test.each(['many', '-1', '1e3', '0x10', 'Infinity', '1.2.3'])('%j is not a number', (typed) => {
	expect(problemWith(typed, AMOUNTS, t)).toBe(t.notANumber);
});

test('what is not whole, or too much, says so', () => {
	expect(problemWith('1.5', COUNTS, t)).toBe(t.notWhole);
	expect(problemWith('1000000000001', COUNTS, t)).toBe('This has to be 0 to 1,000,000,000,000.');
	expect(problemWith('1000001', AMOUNTS, t)).toBe('This has to be 0 to 1,000,000.');
});

test('a scale ends with a round number', () => {
	expect([0, 1, 3, 12, 5_000, 5_001].map(roundedUp)).toEqual([1, 1, 5, 20, 5_000, 10_000]);
});

test('small amounts keep the digits that say something', () => {
	expect(money(0.0012, 'USD')).toBe('$0.0012');
	expect(money(12.3456, 'EUR')).toBe('€12.35');
	expect(money(0.075, 'EUR', 6)).toBe('€0.075');
	expect(money(2, 'sea shells')).toBe('2.00 sea shells');
});

test('nothing was cached where nothing was read', () => {
	expect(cachedShareOf(NOTHING)).toBe(0);
	expect(cachedShareOf({ ...NOTHING, num_input_tokens: 4, num_cached_tokens: 3 })).toBe(0.75);
});

test('only what was used shows that there are prices', () => {
	expect(hasCost(NOTHING)).toBe(false);
	expect(hasCost({ ...NOTHING, num_turns: 1 })).toBe(true);
	expect(hasCost({ ...NOTHING, num_turns: 1, cost: null })).toBe(false);
});

test('who used the most comes first', () => {
	const little = { ...NOTHING, num_input_tokens: 1 };
	const much = { ...NOTHING, num_output_tokens: 9 };
	expect(mostFirst([little, much])).toEqual([much, little]);
});

test('a day is the same day wherever one is', () => {
	expect(dayName('2026-11-15')).toBe('Sun, Nov 15');
});
