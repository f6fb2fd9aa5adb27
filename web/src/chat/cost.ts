/** Describes the cost of an answer: tokens, speed, waiting time and cache. */
import type { Usage } from '$/api/events.gen';
import type { Words } from '$/words/words';

/** Smaller savings are not noticeable. */
const MIN_SAVED_MS = 50;

/** `savedMs` is the time saved by prewarming, if known. */
export function describeCost(
	usage: Usage,
	{ cost }: Words['chat'],
	savedMs: number | null = null
): string {
	const firstWordMs = usage.first_word_ms ?? usage.queued_ms + usage.prefill_ms;
	const speed = computeTokensPerSecond(usage);
	return [
		cost.tokens(usage.num_output_tokens, usage.is_estimated),
		speed === null ? null : cost.speed(speed),
		firstWordMs > 0 ? cost.firstWord(Math.max(1, firstWordMs)) : null,
		savedMs !== null && savedMs >= MIN_SAVED_MS ? cost.saved(savedMs) : null,
		usage.num_cached_tokens > 0
			? cost.cached(usage.num_cached_tokens, usage.num_input_tokens)
			: cost.prompt(usage.num_input_tokens, usage.is_estimated)
	]
		.filter((part) => part !== null)
		.join(' · ');
}

/** Null for fewer than two tokens. */
function computeTokensPerSecond({ num_output_tokens, decode_ms }: Usage): number | null {
	if (num_output_tokens < 2 || decode_ms <= 0) return null;
	return (num_output_tokens / decode_ms) * 1000;
}
