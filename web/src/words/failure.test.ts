import { expect, test } from 'vitest';
import { de } from '$/words/de';
import { en } from '$/words/en';
import { describeFailure } from '$/words/failure';

const failure = (code: string, message: string) => ({ code, message, param: null });

test('in English the server’s message is shown', () => {
	const taken = failure('conflict', 'This name is taken.');
	expect(describeFailure(taken, en)).toBe('This name is taken.');
});

test('in another language the server’s details are kept', () => {
	const long = failure('context_length_exceeded', '5,000 tokens do not fit into 4,096.');
	expect(describeFailure(long, de)).toBe(
		'Das ist länger, als das Modell lesen kann: 5,000 tokens do not fit into 4,096.'
	);
	expect(describeFailure(failure('something_new', 'It is in use.'), de)).toBe(
		'Das ging nicht: It is in use.'
	);
});

test.each(['server_overloaded', 'idempotency_key_reused', 'conflict', 'rate_limit_exceeded'])(
	'the code %s has a German sentence',
	(code) => {
		expect(describeFailure(failure(code, 'No.'), de)).not.toMatch(/^Das ging nicht|Versuche/);
	}
);

test('a message without details is shown in the page’s language only', () => {
	const gone = failure('not_found', 'There is no such folder.');
	expect(describeFailure(gone, de)).toBe('Das gibt es nicht, oder es gehört dir nicht.');
});

test('a used-up limit says when to try again', () => {
	const spent = {
		...failure('quota_exceeded', 'Nothing is left.'),
		retryAt: Date.now() + 7_200_000
	};
	expect(describeFailure(spent, en)).toMatch(
		/^Nothing is left\. It can be tried again (tomorrow )?at \d+:\d\d\s[AP]M\.$/
	);
	expect(describeFailure(spent, de)).toMatch(
		/Du kannst es (morgen )?um \d\d:\d\d wieder versuchen\.$/
	);
	expect(describeFailure({ ...spent, code: 'engine_down' }, en)).toBe('Nothing is left.');
});

test('a fault of the server is told with the id that its log has', () => {
	const broken = { ...failure('internal_error', 'Something broke.'), requestId: '3f2a-9c0d' };
	expect(describeFailure(broken, en)).toBe(
		'Something broke. If you report it, include this ID: 3f2a-9c0d'
	);
	expect(describeFailure(broken, de)).toMatch(/ nenne diese ID: 3f2a-9c0d$/);
	expect(describeFailure({ ...broken, code: 'conflict' }, en)).toBe('Something broke.');
});
