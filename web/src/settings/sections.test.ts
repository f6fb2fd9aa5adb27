import { expect, test } from 'vitest';
import { sectionOf } from '$/settings/sections';

test('the address names the section', () => {
	expect(sectionOf('keys', false)).toBe('keys');
	expect(sectionOf('people', true)).toBe('people');
});

test('an address that is not there for this person leads to their account', () => {
	expect(sectionOf('people', false)).toBe('account');
	expect(sectionOf('nonsense', true)).toBe('account');
	expect(sectionOf(null, true)).toBe('account');
});
