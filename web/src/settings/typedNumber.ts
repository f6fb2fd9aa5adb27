/** Numbers that people type into fields: limits and prices. */
import { formatNumber } from '$/words/format';
import type { UsageWords } from '$/words/usage';

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
export function checkNumber(typed: string, range: Range, t: UsageWords): string | null {
	const value = parseNumber(typed, range);
	if (value === null) return null;
	if (!Number.isFinite(value)) return t.notANumber;
	if (range.isWhole && !Number.isInteger(value)) return t.notWhole;
	return value <= range.max ? null : t.outOfRange(formatNumber(range.max));
}
