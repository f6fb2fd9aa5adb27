import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { describeEnding } from '$/chat/answerEnding';
import { readExpected } from '$/turn/recordedTurns';
import { en } from '$/words/en';

const ANSWER = readExpected('hello').messages.at(-1) as Message;
type Details = NonNullable<Message['metadata']['finish_details']>;

const answer = (
	status: Message['status'],
	details: Details = { type: 'stop', reason: 'stop' }
): Message => ({
	...ANSWER,
	status,
	metadata: { ...ANSWER.metadata, finish_details: details }
});
const ended = { isRunning: false, isStopping: false, isStoppedLocally: false, failure: null };

test('an answer that ended normally has no ending to describe', () => {
	expect(describeEnding(answer('finished_successfully'), null, en)).toBeNull();
});

test('a running answer has no ending yet', () => {
	expect(describeEnding(answer('in_progress'), { ...ended, isRunning: true }, en)).toBeNull();
});

test('a failure shows the server message and offers a retry', () => {
	const failure = { message: 'The model stopped working.', code: 'worker_lost' };

	expect(describeEnding(answer('failed'), { ...ended, failure }, en)).toEqual({
		sentence: 'The model stopped working.',
		canRetry: true,
		canContinue: true
	});
});

test('a stored failure is described after a reload', () => {
	const details: Details = { type: 'failed', reason: 'failed', message: 'It died.' };

	expect(describeEnding(answer('failed', details), null, en)).toEqual({
		sentence: 'It died.',
		canRetry: true,
		canContinue: true
	});
});

test('a stopped answer does not suggest a retry', () => {
	const stopped = answer('finished_partial_completion', { type: 'interrupted', reason: 'stopped' });

	expect(describeEnding(stopped, { ...ended, isStopping: true }, en)?.canRetry).toBe(false);
	expect(describeEnding(stopped, null, en)?.canRetry).toBe(false);
});

test('an answer interrupted by a restart can be retried', () => {
	const cut = answer('finished_partial_completion', {
		type: 'interrupted',
		reason: 'interrupted'
	});

	expect(describeEnding(cut, null, en)?.canRetry).toBe(true);
});

test('an answer that ran out of room says so', () => {
	const full = answer('finished_successfully', { type: 'max_tokens', reason: 'length' });

	expect(describeEnding(full, null, en)?.sentence).toContain('longest');
});

test('only an answer with text can be continued', () => {
	const details: Details = { type: 'interrupted', reason: 'stopped' };
	const cut = answer('finished_partial_completion', details);
	const wordless = { ...cut, content: { ...cut.content, parts: [''] } };

	expect(describeEnding(cut, null, en)?.canContinue).toBe(true);
	expect(describeEnding(wordless, null, en)?.canContinue).toBe(false);
});
