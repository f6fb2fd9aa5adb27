/** What an answer cost, in words. */
import type { Usage } from '$/api/events.gen';

/** `firstTokenMs` is what was measured, if the answer was written before our eyes. */
export function costOf(usage: Usage, firstTokenMs: number | null): string {
	const about = usage.is_estimated ? 'about ' : '';
	const untilFirst = firstTokenMs ?? usage.queued_ms + usage.prefill_ms;
	return [
		`${about}${plural(usage.num_output_tokens, 'token')}`,
		speed(usage),
		untilFirst > 0 ? `first word after ${seconds(untilFirst)}` : null,
		usage.num_cached_tokens > 0
			? `${usage.num_cached_tokens} of ${usage.num_input_tokens} prompt tokens cached`
			: `${about}${plural(usage.num_input_tokens, 'prompt token')}`
	]
		.filter((part) => part !== null)
		.join(' · ');
}

function speed({ num_output_tokens, decode_ms }: Usage): string | null {
	if (num_output_tokens < 2 || decode_ms <= 0) return null;
	const perSecond = (num_output_tokens / decode_ms) * 1000;
	return `${perSecond < 10 ? perSecond.toFixed(1) : Math.round(perSecond)} tokens/s`;
}

function seconds(ms: number): string {
	return ms < 1000 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function plural(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
