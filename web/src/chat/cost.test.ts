import { expect, test } from 'vitest';
import { costOf } from '$/chat/cost';

const USAGE = {
	num_input_tokens: 140,
	num_cached_tokens: 96,
	num_output_tokens: 128,
	queued_ms: 2,
	prefill_ms: 418,
	decode_ms: 4000,
	is_estimated: false
};

test('the cost is told in tokens, speed, waiting and what was cached', () => {
	expect(costOf(USAGE, null)).toBe(
		'128 tokens · 32 tokens/s · first word after 420 ms · 96 of 140 prompt tokens cached'
	);
});

test('what was measured here is told instead of what the engine counted', () => {
	expect(costOf(USAGE, 1520)).toContain('first word after 1.5 s');
});

test('an estimate says that it is one', () => {
	const usage = { ...USAGE, is_estimated: true, num_cached_tokens: 0, num_output_tokens: 1 };

	expect(costOf(usage, 1)).toBe('about 1 token · first word after 1 ms · about 140 prompt tokens');
});
