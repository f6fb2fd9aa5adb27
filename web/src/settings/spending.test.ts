// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import {
	AMOUNTS,
	COUNTS,
	computeCachedShare,
	hasCost,
	sortByTokens,
	checkNumber,
	roundUp,
	parseNumber
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
	expect(parseNumber(typed, COUNTS)).toBe(value);
	expect(checkNumber(typed, COUNTS, t)).toBeNull();
});

test.each([
	['0.5', 0.5],
	['0,25', 0.25],
	['.1', 0.1],
	['1000000', 1_000_000]
])('%j is the amount %j', (typed, value) => {
	expect(parseNumber(typed, AMOUNTS)).toBe(value);
	expect(checkNumber(typed, AMOUNTS, t)).toBeNull();
});

test.each(['many', '-1', '1e3', '0x10', 'Infinity', '1.2.3'])('%j is not a number', (typed) => {
	expect(checkNumber(typed, AMOUNTS, t)).toBe(t.notANumber);
});

test('a fraction and a number above the maximum are refused', () => {
	expect(checkNumber('1.5', COUNTS, t)).toBe(t.notWhole);
	expect(checkNumber('1000000000001', COUNTS, t)).toBe('This has to be 0 to 1,000,000,000,000.');
	expect(checkNumber('1000001', AMOUNTS, t)).toBe('This has to be 0 to 1,000,000.');
});

test('the end of a scale is a round number', () => {
	expect([0, 1, 3, 12, 5_000, 5_001].map(roundUp)).toEqual([1, 1, 5, 20, 5_000, 10_000]);
});

test('the cached share of no input is zero', () => {
	expect(computeCachedShare(NOTHING)).toBe(0);
	expect(computeCachedShare({ ...NOTHING, num_input_tokens: 4, num_cached_tokens: 3 })).toBe(0.75);
});

test('only usage with a cost shows that a price is set', () => {
	expect(hasCost(NOTHING)).toBe(false);
	expect(hasCost({ ...NOTHING, num_turns: 1 })).toBe(true);
	expect(hasCost({ ...NOTHING, num_turns: 1, cost: null })).toBe(false);
});

test('usage is sorted by tokens, largest first', () => {
	const little = { ...NOTHING, num_input_tokens: 1 };
	const much = { ...NOTHING, num_output_tokens: 9 };
	expect(sortByTokens([little, much])).toEqual([much, little]);
});
