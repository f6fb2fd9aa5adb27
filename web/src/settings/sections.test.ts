import { expect, test } from 'vitest';
import { findSection } from '$/settings/sections';

test('the address names the section', () => {
	expect(findSection('keys', 'member')).toBe('keys');
	expect(findSection('people', 'admin')).toBe('people');
});

test('an unknown or forbidden section falls back to the account', () => {
	expect(findSection('people', 'member')).toBe('account');
	expect(findSection('nonsense', 'admin')).toBe('account');
	expect(findSection(null, 'admin')).toBe('account');
});

test('a reviewer has the reviews, and nothing else of the administration', () => {
	expect(findSection('reviews', 'reviewer')).toBe('reviews');
	expect(findSection('safety', 'reviewer')).toBe('account');
	expect(findSection('reviews', 'member')).toBe('account');
});
