// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/client';
import type { Prepared, SendBody } from '$/api/wire';
import type { Preparation } from '$/state/preparation';
import { Warming } from '$/state/warming.svelte';

const PREPARED: Prepared = {
	status: 'ok',
	conduit_token: 'conduit',
	warmup_state: 'warming',
	num_tokens: 40,
	num_window_tokens: 100,
	num_dropped_messages: 0,
	is_exact: true
};

let asked: { body: SendBody; signal: AbortSignal }[] = [];
let answer: () => Promise<Prepared>;
let warming: Warming;

beforeEach(() => {
	vi.useFakeTimers();
	asked = [];
	answer = () => Promise.resolve(PREPARED);
	warming = new Warming({
		prepare: (body, signal) => {
			asked.push({ body, signal });
			return answer();
		}
	});
});
afterEach(() => {
	warming.cancel();
	vi.useRealTimers();
});

function writing(text: string, more: Partial<Preparation> = {}, parent = 'p'): Preparation {
	const ask = { model: 'auto', sampling: {} };
	const place = { conversationId: 'c', parent, ask };
	return { text, ...place, isReadAhead: true, isWeighed: false, ...more };
}
async function write(text: string, restMs = 400, more: Partial<Preparation> = {}): Promise<void> {
	warming.consider(writing(text, more));
	await vi.advanceTimersByTimeAsync(restMs);
}
const told = () => asked.map(({ body }) => body.messages[0]?.content.parts[0] ?? '');
const bound = { conversation_id: 'c' } as SendBody;

test('the server hears of a draft when the writing rests, not at every key', async () => {
	for (const text of ['Tell me a', 'Tell me ab', 'Tell me about']) await write(text, 200);
	expect(told()).toEqual([]);
	await write('Tell me about x');

	expect(told()).toEqual(['Tell me about x']);
	expect(asked[0]?.body.client_prepare_state).toBe('sent');
});

test('less than eight new letters are not worth it, wherever they are', async () => {
	await write('Seven7');
	expect(told()).toEqual([]);
	await write('Tell me about');
	await write('Tell me about cats');
	expect(told()).toHaveLength(1);
	await write('Tell me about cats and dogs');
	expect(told()).toHaveLength(2);
	await write('Tell us about cats and dogs');

	expect(told()).toHaveLength(3);
});

test('there is one question at a time, and the newest counts', async () => {
	answer = () => new Promise(() => undefined);
	await write('Tell me about');
	await write('Tell me about cats and dogs');

	expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test('a Send takes the question back and brings the token along, once it is taken no more', async () => {
	await write('Tell me about');
	expect(warming.headersFor(bound)).toEqual({ 'x-conduit-token': 'conduit' });
	answer = () => new Promise(() => undefined);
	await write('Tell me about cats and dogs');
	warming.cancel();
	expect(asked.at(-1)?.signal.aborted).toBe(true);
	expect(warming.headersFor(bound)).toEqual({ 'x-conduit-token': 'conduit' });
	warming.settle({ ...bound, conversation_id: 'other' });
	expect(warming.headersFor(bound)).toEqual({ 'x-conduit-token': 'conduit' });
	warming.settle(bound);

	expect(warming.headersFor(bound)).toEqual({});
});

test('what was taken back before it was answered is told again', async () => {
	answer = () => new Promise(() => undefined);
	await write('Tell me about');
	warming.consider(null);
	answer = () => Promise.resolve(PREPARED);
	await write('Tell me about');
	warming.consider(null);
	await write('Tell me about');

	expect(told()).toEqual(['Tell me about', 'Tell me about']);
});

test('a token goes to its own conversation, and for a minute', async () => {
	await write('Tell me about');
	expect(warming.headersFor({ ...bound, conversation_id: 'other' })).toEqual({});
	await vi.advanceTimersByTimeAsync(60_000);

	expect(warming.headersFor(bound)).toEqual({});
});

test('what is open is prepared once without a word, and again in another place', async () => {
	await write('');
	await write('');
	expect(told()).toEqual(['']);
	warming.consider(writing('', {}, 'elsewhere'));
	await vi.advanceTimersByTimeAsync(400);

	expect(told()).toEqual(['', '']);
});

test('who wants nothing read ahead is only counted, and says so', async () => {
	await write('Tell me about', 400, { isReadAhead: false });
	expect(asked).toEqual([]);
	await write('a long one', 400, { isReadAhead: false, isWeighed: true });

	expect(asked[0]?.body.client_prepare_state).toBe('none');
	expect(warming.weight).toMatchObject({ num_tokens: 40, is_exact: true });
});

test('what is weighed is weighed at every letter, and forgotten when it is not any more', async () => {
	await write('a long one', 400, { isWeighed: true });
	await write('a long one!', 400, { isWeighed: true });
	expect(told()).toHaveLength(2);
	await write('a short one');

	expect(warming.weight).toBeNull();
});

test('what something weighs in one place says nothing of another', async () => {
	await write('a long one', 400, { isWeighed: true });
	expect(warming.weight).not.toBeNull();
	warming.consider(writing('a long two', { isWeighed: true, conversationId: 'another' }));

	expect(warming.weight).toBeNull();
});

test('too long is an answer; where nothing could be counted there is none', async () => {
	answer = () => Promise.reject(new ApiError('Too long.', 400, 'context_length_exceeded'));
	await write('a long one', 400, { isWeighed: true });
	expect(warming.weight).toBe('too long');
	answer = () =>
		Promise.resolve({ ...PREPARED, status: 'skipped', conduit_token: null, num_tokens: null });
	await write('a long two', 400, { isWeighed: true });

	expect(warming.weight).toBeNull();
	expect(warming.headersFor(bound)).toEqual({});
});

test('what the server could not hear is told again', async () => {
	answer = () => Promise.reject(new Unreachable());
	await write('Tell me about');
	answer = () => Promise.resolve(PREPARED);
	await write('Tell me about it');

	expect(told()).toEqual(['Tell me about', 'Tell me about it']);
});
