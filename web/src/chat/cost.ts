/** What an answer cost, in words. */
import type { Usage } from '$/api/events.gen';
import type { Words } from '$/words/words';

export function costOf(usage: Usage, { cost }: Words['chat']): string {
	const untilFirst = usage.first_word_ms ?? usage.queued_ms + usage.prefill_ms;
	const speed = speedOf(usage);
	return [
		cost.tokens(usage.num_output_tokens, usage.is_estimated),
		speed === null ? null : cost.speed(speed),
		untilFirst > 0 ? cost.firstWord(seconds(untilFirst)) : null,
		usage.num_cached_tokens > 0
			? cost.cached(usage.num_cached_tokens, usage.num_input_tokens)
			: cost.prompt(usage.num_input_tokens, usage.is_estimated)
	]
		.filter((part) => part !== null)
		.join(' · ');
}

function speedOf({ num_output_tokens, decode_ms }: Usage): string | null {
	if (num_output_tokens < 2 || decode_ms <= 0) return null;
	const perSecond = (num_output_tokens / decode_ms) * 1000;
	return perSecond < 10 ? perSecond.toFixed(1) : String(Math.round(perSecond));
}

function seconds(ms: number): string {
	return ms < 1000 ? `${Math.max(1, Math.round(ms))}\u00a0ms` : `${(ms / 1000).toFixed(1)}\u00a0s`;
}
