import { expect, test } from 'vitest';
import { detectLanguage, splitForSpeech, toSpeech } from '$/chat/speechText';

test.each([
	['# A title', 'A title'],
	['**bold** and *slanted* and `code`', 'bold and slanted and code'],
	['- one\n- two\n1. three', 'one\ntwo\nthree'],
	['- [x] done', 'done'],
	['> quoted', 'quoted'],
	['see [the page](https://example.org/a/b?c=d)', 'see the page'],
	['at https://example.org/a/b', 'at example.org'],
	['before\n\n```python\nprint(1)\n```\n\nafter', 'before\nafter'],
	['before\n\n```\nnever closed', 'before'],
	['| a | b |\n|---|---|\n| 1 | 2 |', 'a, b\n1, 2'],
	['2 * 3 * 4 and snake_case_name', '2 * 3 * 4 and snake_case_name'],
	['so $$x^2$$ it is', 'so   it is']
])('%j is read as %j', (markdown, words) => {
	expect(toSpeech(markdown)).toBe(words);
});

test('a text is split into sentences, and a long sentence into shorter pieces', () => {
	expect(splitForSpeech('One. Two! Three?\nFour')).toEqual(['One.', 'Two!', 'Three?', 'Four']);
	const long = splitForSpeech('word '.repeat(200));
	expect(long.every((piece) => piece.length <= 220)).toBe(true);
	expect(long.join(' ')).toBe('word '.repeat(200).trim());
	expect(splitForSpeech('x'.repeat(500)).join('')).toBe('x'.repeat(500));
});

test.each([
	['What is a monad?', 'de', 'de'],
	['Что такое монада?', 'en', 'ru'],
	['モナドとは何ですか。', 'en', 'ja'],
	['什么是单子？', 'en', 'zh'],
	['The word “слово” is Russian.', 'en', 'ru'],
	['1 + 1 = 2', 'en', 'en']
])('%j on a page in %s is read in %s', (text, page, language) => {
	expect(detectLanguage(text, page)).toBe(language);
});
