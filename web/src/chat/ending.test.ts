import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { endingOf } from '$/chat/ending';
import { expected } from '$/turn/recorded';

const ANSWER = expected('hello').messages.at(-1) as Message;
const answer = (status: Message['status'], type = 'stop'): Message => ({
	...ANSWER,
	status,
	metadata: { ...ANSWER.metadata, finish_details: { type } }
});
const seen = { isRunning: false, isStopping: false, failure: null };

test('an answer that ended by itself needs no words', () => {
	expect(endingOf(answer('finished_successfully'), null)).toBeNull();
});

test('an answer that is being written needs no words yet', () => {
	expect(endingOf(answer('in_progress'), { ...seen, isRunning: true })).toBeNull();
});

test('a failure says what the server said, and offers another try', () => {
	const failure = { message: 'The model stopped working.', code: 'worker_lost' };

	expect(endingOf(answer('failed', 'failed'), { ...seen, failure })).toEqual({
		sentence: 'The model stopped working.',
		isWorthATry: true
	});
});

test('a failure is still told after the page was opened again', () => {
	expect(endingOf(answer('failed', 'failed'), null)?.isWorthATry).toBe(true);
});

test('who stopped an answer is not urged to try again', () => {
	const partial = answer('finished_partial_completion', 'interrupted');

	expect(endingOf(partial, { ...seen, isStopping: true })?.isWorthATry).toBe(false);
	expect(endingOf(partial, null)?.isWorthATry).toBe(true);
});

test('an answer that ran out of room says so', () => {
	expect(endingOf(answer('finished_successfully', 'max_tokens'), null)?.sentence).toContain(
		'longest'
	);
});
