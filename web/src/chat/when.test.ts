import { expect, test } from 'vitest';
import { exactly, when } from '$/chat/when';

const now = new Date(2026, 5, 15, 18, 0);
const at = (...date: [number, number, number, number, number]) =>
	new Date(...date).getTime() / 1000;

test('what was said today has a time, what was said before a day', () => {
	expect(when(at(2026, 5, 15, 9, 5), 'de', now)).toBe('09:05');
	expect(when(at(2026, 2, 3, 9, 5), 'en', now)).toBe('Mar 3');
	expect(when(at(2024, 2, 3, 9, 5), 'en', now)).toBe('Mar 3, 2024');
});

test('the whole date can be looked up', () => {
	expect(exactly(at(2026, 5, 15, 9, 5), 'en')).toContain('Monday, June 15, 2026');
});
