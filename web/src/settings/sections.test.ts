import { expect, test } from 'vitest';
import { findSection } from '$/settings/sections';

test('the address names the section', () => {
	expect(findSection('keys', false)).toBe('keys');
	expect(findSection('people', true)).toBe('people');
});

test('an unknown or forbidden section falls back to the account', () => {
	expect(findSection('people', false)).toBe('account');
	expect(findSection('nonsense', true)).toBe('account');
	expect(findSection(null, true)).toBe('account');
});
