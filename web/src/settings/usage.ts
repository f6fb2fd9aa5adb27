/** Sums up usage. */
import type { TokenUsage } from '$/api/wire';

export function sumTokens({ num_input_tokens, num_output_tokens }: TokenUsage): number {
	return num_input_tokens + num_output_tokens;
}

/** The share of input tokens that came from the KV cache. */
export function computeCachedShare({ num_input_tokens, num_cached_tokens }: TokenUsage): number {
	return num_input_tokens === 0 ? 0 : num_cached_tokens / num_input_tokens;
}

/** Whether a price is set: unused models cost 0 even without one. */
export function hasCost({ num_turns, cost }: TokenUsage): boolean {
	return num_turns > 0 && cost !== null;
}

export function sortByTokens<T extends TokenUsage>(items: readonly T[]): T[] {
	return items.toSorted((one, other) => sumTokens(other) - sumTokens(one));
}

/** Rounds up to 1, 2 or 5 times a power of ten: the end of a scale. */
export function roundUp(value: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
	const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10;
	return step * power;
}
