import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { endingOf } from '$/chat/ending';
import { expected } from '$/turn/recorded';

const ANSWER = expected('hello').messages.at(-1) as Message;
type Details = NonNullable<Message['metadata']['finish_details']>;

const answer = (
	status: Message['status'],
	details: Details = { type: 'stop', reason: 'stop' }
): Message => ({
	...ANSWER,
	status,
	metadata: { ...ANSWER.metadata, finish_details: details }
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

	expect(endingOf(answer('failed'), { ...seen, failure })).toEqual({
		sentence: 'The model stopped working.',
		isWorthATry: true
	});
});

test('a failure is still told after the page was opened again', () => {
	const details: Details = { type: 'failed', reason: 'failed', message: 'It died.' };

	expect(endingOf(answer('failed', details), null)).toEqual({
		sentence: 'It died.',
		isWorthATry: true
	});
});

test('who stopped an answer is not urged to try again', () => {
	const stopped = answer('finished_partial_completion', { type: 'interrupted', reason: 'stopped' });

	expect(endingOf(stopped, { ...seen, isStopping: true })?.isWorthATry).toBe(false);
	expect(endingOf(stopped, null)?.isWorthATry).toBe(false);
});

test('an answer that a restart cut short can be tried again', () => {
	const cut = answer('finished_partial_completion', {
		type: 'interrupted',
		reason: 'interrupted'
	});

	expect(endingOf(cut, null)?.isWorthATry).toBe(true);
});

test('an answer that ran out of room says so', () => {
	const full = answer('finished_successfully', { type: 'max_tokens', reason: 'length' });

	expect(endingOf(full, null)?.sentence).toContain('longest');
});
