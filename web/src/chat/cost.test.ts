import { expect, test } from 'vitest';
import { describeCost } from '$/chat/cost';
import { de } from '$/words/de';
import { en } from '$/words/en';

const USAGE = {
	num_input_tokens: 140,
	num_cached_tokens: 96,
	num_output_tokens: 128,
	queued_ms: 2,
	prefill_ms: 418,
	decode_ms: 4000,
	is_estimated: false,
	is_truncated: false
};

test('the cost lists tokens, speed, waiting time and cached tokens', () => {
	expect(describeCost(USAGE, en.chat)).toBe(
		'128 tokens · 32 tokens/s · first word after 420\u00a0ms · 96 of 140 prompt tokens cached'
	);
});

test('the first-word time of the server is preferred to that of the engine', () => {
	expect(describeCost({ ...USAGE, first_word_ms: 1520 }, en.chat)).toContain(
		'first word after 1.5\u00a0s'
	);
});

test('an estimate is marked as one', () => {
	const usage = {
		...USAGE,
		is_estimated: true,
		num_cached_tokens: 0,
		num_output_tokens: 1,
		first_word_ms: 1
	};

	expect(describeCost(usage, en.chat)).toBe(
		'about 1 token · first word after 1\u00a0ms · about 140 prompt tokens'
	);
});

test('numbers are formatted in the language of the page', () => {
	const usage = { ...USAGE, num_output_tokens: 1280, decode_ms: 400_000, first_word_ms: 1520 };

	expect(describeCost(usage, de.chat)).toBe(
		'1.280 Token · 3,2 Token/s · erstes Wort nach 1,5\u00a0s · 96 von 140 Prompt-Token schon gelesen'
	);
});

test('time saved by prewarming is shown if it is noticeable', () => {
	expect(describeCost(USAGE, en.chat, 12_000)).toContain('read ahead: saved 12\u00a0s');
	expect(describeCost(USAGE, en.chat, 20)).not.toContain('read ahead');
});
