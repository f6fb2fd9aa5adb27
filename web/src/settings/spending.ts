/** Numbers of limits, usage and prices: how they are typed, how they are written, what they add up to. */
import type { Used } from '$/api/spending';
import type { SpendingWords } from '$/words/spending';

const language = () => document.documentElement.lang || 'en';

/** Which numbers a field takes, from 0 on. */
export interface Range {
	most: number;
	isWhole: boolean;
}
export const COUNTS: Range = { most: 10 ** 12, isWhole: true };
export const AMOUNTS: Range = { most: 1_000_000, isWhole: false };

/** Digits in groups of three, as people of many languages write them. */
const GROUPED = /^\d{1,3}(?:[.,'’\s]\d{3})+$/;

/** What was typed; null for nothing, and not a number where it is none. */
export function typedNumber(typed: string, { isWhole }: Range): number | null {
	const text = typed.trim();
	if (text === '') return null;
	if (isWhole && GROUPED.test(text)) return Number(text.replaceAll(/\D/g, ''));
	return /^\d*[.,]?\d*$/.test(text) ? Number(text.replace(',', '.')) : NaN;
}

export function problemWith(typed: string, range: Range, t: SpendingWords): string | null {
	const value = typedNumber(typed, range);
	if (value === null) return null;
	if (!Number.isFinite(value)) return t.notANumber;
	if (range.isWhole && !Number.isInteger(value)) return t.notWhole;
	return value <= range.most ? null : t.outOfRange(range.most.toLocaleString(language()));
}

export function tokensOf({ num_input_tokens, num_output_tokens }: Used): number {
	return num_input_tokens + num_output_tokens;
}

/** Of the input, what the engine did not have to read again. */
export function cachedShareOf({ num_input_tokens, num_cached_tokens }: Used): number {
	return num_input_tokens === 0 ? 0 : num_cached_tokens / num_input_tokens;
}

/** What nobody used costs nothing, which tells nothing of prices. */
export function hasCost({ num_turns, cost }: Used): boolean {
	return num_turns > 0 && cost !== null;
}

export function mostFirst<T extends Used>(lines: readonly T[]): T[] {
	return [...lines].sort((one, other) => tokensOf(other) - tokensOf(one));
}

/** The next round number: what a scale ends with. */
export function roundedUp(value: number): number {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
	const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10;
	return step * power;
}

/** "12K", where there is little room. */
export function short(value: number): string {
	return value.toLocaleString(language(), { notation: 'compact', maximumFractionDigits: 1 });
}

export function share(part: number): string {
	return part.toLocaleString(language(), { style: 'percent', maximumFractionDigits: 0 });
}

/** Small amounts keep the digits that say something. The house may count in what it likes. */
export function money(amount: number, currency: string, mostDigits = 2): string {
	const isSmall = amount > 0 && amount < 0.01;
	const digits = {
		minimumFractionDigits: 2,
		maximumFractionDigits: Math.max(mostDigits, isSmall ? 4 : 2)
	};
	try {
		return amount.toLocaleString(language(), { style: 'currency', currency, ...digits });
	} catch (error) {
		if (!(error instanceof RangeError)) throw error;
		return `${amount.toLocaleString(language(), digits)} ${currency}`;
	}
}

/** "Sun, 15 Nov", of a day in UTC. */
export function dayName(day: string): string {
	return new Date(`${day}T00:00:00Z`).toLocaleDateString(language(), {
		weekday: 'short',
		day: 'numeric',
		month: 'short',
		timeZone: 'UTC'
	});
}
