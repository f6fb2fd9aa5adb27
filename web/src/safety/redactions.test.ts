import { expect, test } from 'vitest';
import { restoreValues, splitPlaceholders, type Redaction } from '$/safety/redactions';

const card = (value: string): Redaction => ({ placeholder: '[CARD_7F3A]', value });
const taxId: Redaction = { placeholder: '[TAX_ID_00C1]', value: '12 345' };

test('placeholders become what they stand for, and are marked', () => {
	expect(splitPlaceholders('Is [CARD_7F3A] valid?', [card('4556 7375')])).toEqual([
		{ text: 'Is ', isHidden: false },
		{ text: '4556 7375', isHidden: true },
		{ text: ' valid?', isHidden: false }
	]);
});

test('placeholders of other conversations stay', () => {
	expect(restoreValues('[EMAIL_0000] and [TAX_ID_00C1]', [taxId])).toBe('[EMAIL_0000] and 12 345');
	expect(restoreValues('[CARD_7F3A]', [])).toBe('[CARD_7F3A]');
});

test('a value that is written in several ways comes back as it was written each time', () => {
	const ways = [card('4556 7375'), card('4556-7375')];
	expect(restoreValues('[CARD_7F3A], [CARD_7F3A], [CARD_7F3A]', ways)).toBe(
		'4556 7375, 4556-7375, 4556-7375'
	);
});
