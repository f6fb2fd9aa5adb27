import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { endingOf } from '$/chat/ending';
import { expected } from '$/turn/recorded';
import { en } from '$/words/en';

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
const seen = { isRunning: false, isStopping: false, isCut: false, failure: null };

test('an answer that ended by itself needs no words', () => {
	expect(endingOf(answer('finished_successfully'), null, en)).toBeNull();
});

test('an answer that is being written needs no words yet', () => {
	expect(endingOf(answer('in_progress'), { ...seen, isRunning: true }, en)).toBeNull();
});

test('a failure says what the server said, and offers another try', () => {
	const failure = { message: 'The model stopped working.', code: 'worker_lost' };

	expect(endingOf(answer('failed'), { ...seen, failure }, en)).toEqual({
		sentence: 'The model stopped working.',
		isWorthATry: true,
		isCutShort: true
	});
});

test('a failure is still told after the page was opened again', () => {
	const details: Details = { type: 'failed', reason: 'failed', message: 'It died.' };

	expect(endingOf(answer('failed', details), null, en)).toEqual({
		sentence: 'It died.',
		isWorthATry: true,
		isCutShort: true
	});
});

test('who stopped an answer is not urged to try again', () => {
	const stopped = answer('finished_partial_completion', { type: 'interrupted', reason: 'stopped' });

	expect(endingOf(stopped, { ...seen, isStopping: true }, en)?.isWorthATry).toBe(false);
	expect(endingOf(stopped, null, en)?.isWorthATry).toBe(false);
});

test('an answer that a restart cut short can be tried again', () => {
	const cut = answer('finished_partial_completion', {
		type: 'interrupted',
		reason: 'interrupted'
	});

	expect(endingOf(cut, null, en)?.isWorthATry).toBe(true);
});

test('an answer that ran out of room says so', () => {
	const full = answer('finished_successfully', { type: 'max_tokens', reason: 'length' });

	expect(endingOf(full, null, en)?.sentence).toContain('longest');
});

test('only an answer that has words can go on from its last one', () => {
	const details: Details = { type: 'interrupted', reason: 'stopped' };
	const cut = answer('finished_partial_completion', details);
	const wordless = { ...cut, content: { ...cut.content, parts: [''] } };

	expect(endingOf(cut, null, en)?.isCutShort).toBe(true);
	expect(endingOf(wordless, null, en)?.isCutShort).toBe(false);
});
