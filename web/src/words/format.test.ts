// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import {
	formatAgo,
	formatBytes,
	formatDate,
	formatDay,
	formatMoney,
	formatNumber
} from '$/words/format';

const NOON = Date.UTC(2026, 2, 14, 12) / 1_000;

beforeEach(() => (document.documentElement.lang = 'en'));

test('a moment ago is now', () => {
	expect(formatAgo(NOON - 20, NOON)).toBe('now');
	expect(formatAgo(NOON + 5, NOON)).toBe('now');
});

test('elapsed time is given in the largest unit that fits', () => {
	expect(formatAgo(NOON - 120, NOON)).toBe('2 minutes ago');
	expect(formatAgo(NOON - 7_300, NOON)).toBe('2 hours ago');
	expect(formatAgo(NOON - 90_000, NOON)).toBe('yesterday');
});

test('after a month the date is given', () => {
	expect(formatAgo(NOON - 40 * 86_400, NOON)).toBe(formatDate(NOON - 40 * 86_400));
});

test('sizes are given in the largest unit that fits', () => {
	expect(formatBytes(0)).toBe('0 byte');
	expect(formatBytes(1_940_000_000)).toBe('1.9 GB');
	expect(formatBytes(268_435_456)).toBe('268 MB');
});

test('numbers and times follow the language of the page', () => {
	document.documentElement.lang = 'de';
	expect(formatAgo(NOON - 90_000, NOON)).toBe('gestern');
	expect(formatNumber(8_192)).toBe('8.192');
	expect(formatBytes(1_940_000_000)).toMatch(/^1,9\sGB$/);
});

test('small amounts keep their significant digits', () => {
	expect(formatMoney(0.0012, 'USD')).toBe('$0.0012');
	expect(formatMoney(12.3456, 'EUR')).toBe('€12.35');
	expect(formatMoney(0.075, 'EUR', 6)).toBe('€0.075');
	expect(formatMoney(2, 'sea shells')).toBe('2.00 sea shells');
});

test('a day is the same in every time zone', () => {
	expect(formatDay('2026-11-15')).toBe('Sun, Nov 15');
});
