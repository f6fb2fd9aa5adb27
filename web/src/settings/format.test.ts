// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { ago, bytes, day, number } from '$/settings/format';

const NOON = Date.UTC(2026, 2, 14, 12) / 1_000;

beforeEach(() => (document.documentElement.lang = 'en'));

test('what was a moment ago is now', () => {
	expect(ago(NOON - 20, NOON)).toBe('now');
	expect(ago(NOON + 5, NOON)).toBe('now');
});

test('time that passed is told in the largest unit that fits', () => {
	expect(ago(NOON - 120, NOON)).toBe('2 minutes ago');
	expect(ago(NOON - 7_300, NOON)).toBe('2 hours ago');
	expect(ago(NOON - 90_000, NOON)).toBe('yesterday');
});

test('after a month the day itself is told', () => {
	expect(ago(NOON - 40 * 86_400, NOON)).toBe(day(NOON - 40 * 86_400));
});

test('sizes read as people say them', () => {
	expect(bytes(0)).toBe('0 byte');
	expect(bytes(1_940_000_000)).toBe('1.9 GB');
	expect(bytes(268_435_456)).toBe('268 MB');
});

test('the language of the page writes them', () => {
	document.documentElement.lang = 'de';
	expect(ago(NOON - 90_000, NOON)).toBe('gestern');
	expect(number(8_192)).toBe('8.192');
	expect(bytes(1_940_000_000)).toMatch(/^1,9\sGB$/);
});
