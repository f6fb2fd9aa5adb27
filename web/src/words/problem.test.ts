import { expect, test } from 'vitest';
import { de } from '$/words/de';
import { en } from '$/words/en';
import { sentenceOf } from '$/words/problem';

const failure = (code: string, message: string) => ({ code, message, param: null });

test('in English the server has the word', () => {
	const taken = failure('conflict', 'This name is taken.');
	expect(sentenceOf(taken, en)).toBe('This name is taken.');
});

test('in another language nothing exact that the server said is lost', () => {
	const long = failure('context_length_exceeded', '5,000 tokens do not fit into 4,096.');
	expect(sentenceOf(long, de)).toBe(
		'Das ist länger, als das Modell lesen kann: 5,000 tokens do not fit into 4,096.'
	);
	expect(sentenceOf(failure('something_new', 'It is in use.'), de)).toBe(
		'Das ging nicht: It is in use.'
	);
});

test.each(['server_overloaded', 'idempotency_key_reused', 'conflict', 'rate_limit_exceeded'])(
	'what kind of thing %s is, is said in German',
	(code) => {
		expect(sentenceOf(failure(code, 'No.'), de)).not.toMatch(/^Das ging nicht|Versuche/);
	}
);

test('what says no more than its kind is said in the language of the page alone', () => {
	const gone = failure('not_found', 'There is no such folder.');
	expect(sentenceOf(gone, de)).toBe('Das gibt es nicht, oder es gehört dir nicht.');
});

test('what is used up for today says when there is more', () => {
	const spent = {
		...failure('quota_exceeded', 'Nothing is left.'),
		retryAt: Date.now() + 7_200_000
	};
	expect(sentenceOf(spent, en)).toMatch(
		/^Nothing is left\. It can be tried again (tomorrow )?at \d+:\d\d\s[AP]M\.$/
	);
	expect(sentenceOf(spent, de)).toMatch(/Du kannst es (morgen )?um \d\d:\d\d wieder versuchen\.$/);
	expect(sentenceOf({ ...spent, code: 'engine_down' }, en)).toBe('Nothing is left.');
});
