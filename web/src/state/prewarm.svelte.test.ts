// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/http';
import type { PrewarmReply, SendBody } from '$/api/wire';
import type { PrewarmRequest } from '$/state/prewarmRequest';
import { Prewarm } from '$/state/prewarm.svelte';

const PREPARED: PrewarmReply = {
	status: 'ok',
	conduit_token: 'conduit',
	warmup_state: 'warming',
	num_tokens: 40,
	num_window_tokens: 100,
	num_dropped_messages: 0,
	is_exact: true
};

let requests: { body: SendBody; signal: AbortSignal }[] = [];
let reply: () => Promise<PrewarmReply>;
let prewarm: Prewarm;

beforeEach(() => {
	vi.useFakeTimers();
	requests = [];
	reply = () => Promise.resolve(PREPARED);
	prewarm = new Prewarm({
		prepare: (body, signal) => {
			requests.push({ body, signal });
			return reply();
		}
	});
});
afterEach(() => {
	prewarm.cancel();
	vi.useRealTimers();
});

function buildRequest(
	text: string,
	more: Partial<PrewarmRequest> = {},
	parent = 'p'
): PrewarmRequest {
	const ask = { model: 'auto', sampling: {} };
	const place = { conversationId: 'c', parent, ask };
	return { text, ...place, isPrefilled: true, isCounted: false, ...more };
}
async function type(text: string, restMs = 400, more: Partial<PrewarmRequest> = {}): Promise<void> {
	prewarm.update(buildRequest(text, more));
	await vi.advanceTimersByTimeAsync(restMs);
}
const sentTexts = () => requests.map(({ body }) => body.messages[0]?.content.parts[0] ?? '');
const BODY = { conversation_id: 'c' } as SendBody;

test('a draft is sent after a pause in typing, not at every key', async () => {
	for (const text of ['Tell me a', 'Tell me ab', 'Tell me about']) await type(text, 200);
	expect(sentTexts()).toEqual([]);
	await type('Tell me about x');

	expect(sentTexts()).toEqual(['Tell me about x']);
	expect(requests[0]?.body.client_prepare_state).toBe('sent');
});

test('a request needs eight new characters since the last one', async () => {
	await type('Seven7');
	expect(sentTexts()).toEqual([]);
	await type('Tell me about');
	await type('Tell me about cats');
	expect(sentTexts()).toHaveLength(1);
	await type('Tell me about cats and dogs');
	expect(sentTexts()).toHaveLength(2);
	await type('Tell us about cats and dogs');

	expect(sentTexts()).toHaveLength(3);
});

test('a new request aborts the one before', async () => {
	reply = () => new Promise(() => undefined);
	await type('Tell me about');
	await type('Tell me about cats and dogs');

	expect(requests.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test('cancel aborts the request and keeps the token; a Send uses the token up', async () => {
	await type('Tell me about');
	expect(prewarm.headersFor(BODY)).toEqual({ 'x-conduit-token': 'conduit' });
	reply = () => new Promise(() => undefined);
	await type('Tell me about cats and dogs');
	prewarm.cancel();
	expect(requests.at(-1)?.signal.aborted).toBe(true);
	expect(prewarm.headersFor(BODY)).toEqual({ 'x-conduit-token': 'conduit' });
	prewarm.forget({ ...BODY, conversation_id: 'other' });
	expect(prewarm.headersFor(BODY)).toEqual({ 'x-conduit-token': 'conduit' });
	prewarm.forget(BODY);

	expect(prewarm.headersFor(BODY)).toEqual({});
});

test('an aborted request is sent again, a completed one is not', async () => {
	reply = () => new Promise(() => undefined);
	await type('Tell me about');
	prewarm.update(null);
	reply = () => Promise.resolve(PREPARED);
	await type('Tell me about');
	prewarm.update(null);
	await type('Tell me about');

	expect(sentTexts()).toEqual(['Tell me about', 'Tell me about']);
});

test('a token is valid for its own conversation, and for a minute', async () => {
	await type('Tell me about');
	expect(prewarm.headersFor({ ...BODY, conversation_id: 'other' })).toEqual({});
	await vi.advanceTimersByTimeAsync(60_000);

	expect(prewarm.headersFor(BODY)).toEqual({});
});

test('an open conversation is prewarmed once without a draft, and again after another message', async () => {
	await type('');
	await type('');
	expect(sentTexts()).toEqual(['']);
	prewarm.update(buildRequest('', {}, 'elsewhere'));
	await vi.advanceTimersByTimeAsync(400);

	expect(sentTexts()).toEqual(['', '']);
});

test('with prewarming off the tokens are only counted', async () => {
	await type('Tell me about', 400, { isPrefilled: false });
	expect(requests).toEqual([]);
	await type('a long one', 400, { isPrefilled: false, isCounted: true });

	expect(requests[0]?.body.client_prepare_state).toBe('none');
	expect(prewarm.promptSize).toMatchObject({ num_tokens: 40, is_exact: true });
});

test('a counted draft is counted at every character, and the size is cleared when counting ends', async () => {
	await type('a long one', 400, { isCounted: true });
	await type('a long one!', 400, { isCounted: true });
	expect(sentTexts()).toHaveLength(2);
	await type('a short one');

	expect(prewarm.promptSize).toBeNull();
});

test('the size is cleared when another conversation opens', async () => {
	await type('a long one', 400, { isCounted: true });
	expect(prewarm.promptSize).not.toBeNull();
	prewarm.update(buildRequest('a long two', { isCounted: true, conversationId: 'another' }));

	expect(prewarm.promptSize).toBeNull();
});

test('a prompt that is too long is reported; a skipped count has no size', async () => {
	reply = () => Promise.reject(new ApiError('Too long.', 400, 'context_length_exceeded'));
	await type('a long one', 400, { isCounted: true });
	expect(prewarm.promptSize).toBe('too long');
	reply = () =>
		Promise.resolve({ ...PREPARED, status: 'skipped', conduit_token: null, num_tokens: null });
	await type('a long two', 400, { isCounted: true });

	expect(prewarm.promptSize).toBeNull();
	expect(prewarm.headersFor(BODY)).toEqual({});
});

test('a request that did not reach the server is sent again', async () => {
	reply = () => Promise.reject(new Unreachable());
	await type('Tell me about');
	reply = () => Promise.resolve(PREPARED);
	await type('Tell me about it');

	expect(sentTexts()).toEqual(['Tell me about', 'Tell me about it']);
});

test('other tools make another prompt', async () => {
	await type('Tell me about');
	const ask = { model: 'auto', sampling: {}, features: ['time'] };
	await type('Tell me about', 400, { ask });

	expect(sentTexts()).toEqual(['Tell me about', 'Tell me about']);
	expect(requests[1]?.body.system_hints).toEqual(['time']);
});
