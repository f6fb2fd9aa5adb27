import { expect, test } from 'vitest';
import { computeCachedShare, hasCost, roundUp, sortByTokens } from '$/settings/usage';

const NOTHING = {
	num_turns: 0,
	num_input_tokens: 0,
	num_cached_tokens: 0,
	num_output_tokens: 0,
	cost: 0
};
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
