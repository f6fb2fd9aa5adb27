import { expect, test } from 'vitest';
import { formatFull, formatShort } from '$/chat/Timestamp.svelte';

const now = new Date(2026, 5, 15, 18, 0);
const at = (...date: [number, number, number, number, number]) =>
	new Date(...date).getTime() / 1000;

test('a message of today shows its time, an older one its date', () => {
	expect(formatShort(at(2026, 5, 15, 9, 5), 'de', now)).toBe('09:05');
	expect(formatShort(at(2026, 2, 3, 9, 5), 'en', now)).toBe('Mar 3');
	expect(formatShort(at(2024, 2, 3, 9, 5), 'en', now)).toBe('Mar 3, 2024');
});

test('the full format has the weekday and the year', () => {
	expect(formatFull(at(2026, 5, 15, 9, 5), 'en')).toContain('Monday, June 15, 2026');
});
