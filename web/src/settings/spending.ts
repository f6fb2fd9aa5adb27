/** Numbers of limits, usage and prices: parses what was typed, and sums up usage. */
import type { TokenUsage } from '$/api/wire';
import { formatNumber } from '$/words/format';
import type { SpendingWords } from '$/words/spending';

/** The numbers a field accepts, from 0. */
export interface Range {
	max: number;
	isWhole: boolean;
}
export const COUNTS: Range = { max: 10 ** 12, isWhole: true };
export const AMOUNTS: Range = { max: 1_000_000, isWhole: false };

/** Digits in groups of three, with the separators of many languages. */
const GROUPED = /^\d{1,3}(?:[.,'’\s]\d{3})+$/;

/** Null if nothing was typed, NaN if it is not a number. */
export function parseNumber(typed: string, { isWhole }: Range): number | null {
	const text = typed.trim();
	if (text === '') return null;
	if (isWhole && GROUPED.test(text)) return Number(text.replaceAll(/\D/g, ''));
	return /^\d*[.,]?\d*$/.test(text) ? Number(text.replace(',', '.')) : NaN;
}

/** Returns the problem with what was typed, or null. */
export function checkNumber(typed: string, range: Range, t: SpendingWords): string | null {
	const value = parseNumber(typed, range);
	if (value === null) return null;
	if (!Number.isFinite(value)) return t.notANumber;
	if (range.isWhole && !Number.isInteger(value)) return t.notWhole;
	return value <= range.max ? null : t.outOfRange(formatNumber(range.max));
}

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
