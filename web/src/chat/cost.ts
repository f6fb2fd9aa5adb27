/** What an answer cost, in words. */
import type { Usage } from '$/api/events.gen';
import type { Words } from '$/words/words';

/** Less is not felt. */
const MIN_SAVED_MS = 50;

/** `savedMs` is what reading ahead has spared, where it is known. */
export function costOf(
	usage: Usage,
	{ cost }: Words['chat'],
	savedMs: number | null = null
): string {
	const untilFirst = usage.first_word_ms ?? usage.queued_ms + usage.prefill_ms;
	const speed = speedOf(usage);
	return [
		cost.tokens(usage.num_output_tokens, usage.is_estimated),
		speed === null ? null : cost.speed(speed),
		untilFirst > 0 ? cost.firstWord(Math.max(1, untilFirst)) : null,
		savedMs !== null && savedMs >= MIN_SAVED_MS ? cost.saved(savedMs) : null,
		usage.num_cached_tokens > 0
			? cost.cached(usage.num_cached_tokens, usage.num_input_tokens)
			: cost.prompt(usage.num_input_tokens, usage.is_estimated)
	]
		.filter((part) => part !== null)
		.join(' · ');
}

/** Tokens in a second. One token alone has no speed. */
function speedOf({ num_output_tokens, decode_ms }: Usage): number | null {
	if (num_output_tokens < 2 || decode_ms <= 0) return null;
	return (num_output_tokens / decode_ms) * 1000;
}
