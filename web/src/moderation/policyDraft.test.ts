import { expect, test } from 'vitest';
import { readPhrases, toggle } from '$/moderation/policyDraft';

test('each line is a phrase, once', () => {
	expect(readPhrases('  purple monkey \n\nblue bird\npurple monkey')).toEqual([
		'purple monkey',
		'blue bird'
	]);
	expect(readPhrases(' \n')).toEqual([]);
});

test('a phrase that the server would refuse is found first', () => {
	expect(readPhrases('a')).toBeNull();
	expect(readPhrases('x'.repeat(201))).toBeNull();
	expect(readPhrases(Array.from({ length: 201 }, (_, i) => `word ${i}`).join('\n'))).toBeNull();
});

test('choices keep their order', () => {
	expect(toggle(['key', 'card', 'phone'], ['phone'], 'key', true)).toEqual(['key', 'phone']);
	expect(toggle(['key', 'card', 'phone'], ['key', 'phone'], 'key', false)).toEqual(['phone']);
});
