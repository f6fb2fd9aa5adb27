// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { AMOUNTS, COUNTS, checkNumber, parseNumber } from '$/settings/typedNumber';
import { usageWords } from '$/words/usage';

const t = usageWords('en');

beforeEach(() => (document.documentElement.lang = 'en'));

test.each([
	['', null],
	['  ', null],
	['0', 0],
	['50000', 50_000],
	['50.000', 50_000],
	['1,000,000', 1_000_000],
	['50 000', 50_000]
])('%j is the whole number %j', (typed, value) => {
	expect(parseNumber(typed, COUNTS)).toBe(value);
	expect(checkNumber(typed, COUNTS, t)).toBeNull();
});

test.each([
	['0.5', 0.5],
	['0,25', 0.25],
	['.1', 0.1],
	['1000000', 1_000_000]
])('%j is the amount %j', (typed, value) => {
	expect(parseNumber(typed, AMOUNTS)).toBe(value);
	expect(checkNumber(typed, AMOUNTS, t)).toBeNull();
});

test.each(['many', '-1', '1e3', '0x10', 'Infinity', '1.2.3'])('%j is not a number', (typed) => {
	expect(checkNumber(typed, AMOUNTS, t)).toBe(t.notANumber);
});

test('a fraction and a number above the maximum are refused', () => {
	expect(checkNumber('1.5', COUNTS, t)).toBe(t.notWhole);
	expect(checkNumber('1000000000001', COUNTS, t)).toBe('This has to be 0 to 1,000,000,000,000.');
	expect(checkNumber('1000001', AMOUNTS, t)).toBe('This has to be 0 to 1,000,000.');
});
