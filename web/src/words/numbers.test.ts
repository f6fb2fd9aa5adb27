import { afterEach, expect, test, vi } from 'vitest';
import { createNumberFormats } from '$/words/numbers';

const en = createNumberFormats('en');
const de = createNumberFormats('de');

afterEach(() => {
	vi.useRealTimers();
});

test('numbers are written as the language writes them', () => {
	expect(en.whole(12_345)).toBe('12,345');
	expect(de.whole(12_345)).toBe('12.345');
	expect(en.percent(0.125)).toBe('12.5%');
	expect(de.percent(0.125)).toBe('12,5\u00a0%');
	expect(de.size(1_500_000_000)).toBe('1,5 GB');
});

test('a number below ten has one decimal', () => {
	expect(en.rough(3.14)).toBe('3.1');
	expect(en.rough(31.4)).toBe('31');
});

test('a duration is in milliseconds below a second', () => {
	expect(en.duration(0.44)).toBe('0.4\u00a0ms');
	expect(en.duration(420)).toBe('420\u00a0ms');
	expect(en.duration(1_520)).toBe('1.5\u00a0s');
	expect(de.duration(1_524, true)).toBe('1,52\u00a0s');
});

test('a time that is not today has its day', () => {
	vi.useFakeTimers({ now: new Date(2026, 10, 15, 17, 0) });
	const at = new Date(2026, 10, 15, 23, 30);
	expect(en.when(at, 'at')).toMatch(/^at 11:30\sPM$/);
	expect(en.when(at, 'at')).toMatch(/^at 11:30\sPM$/);
	expect(de.when(new Date(2026, 10, 16, 1, 0), 'um')).toBe('morgen um 01:00');
	expect(en.when(new Date(2026, 10, 16, 1, 0), 'at')).toMatch(/^tomorrow at 1:00\sAM$/);
	expect(en.when(new Date(2026, 10, 15, 17, 5), 'at')).toMatch(/^at 5:05:00\sPM$/);
});
