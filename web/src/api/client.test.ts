import { afterEach, expect, test, vi } from 'vitest';
import { Api, ApiError, Unreachable } from './client';
import type { SendBody, Status } from './wire';

interface Asked {
	path: string;
	method: string | undefined;
	headers: Headers;
	outlivesPage: boolean | undefined;
}

/** A server that gives these answers, one after the other, and remembers what it was asked. */
function server(...answers: [number, unknown][]): { api: Api; asked: Asked[] } {
	const asked: Asked[] = [];
	const api = new Api((path, init) => {
		const outlivesPage = init?.keepalive;
		asked.push({ path, method: init?.method, headers: new Headers(init?.headers), outlivesPage });
		const [status, body] = answers.shift() ?? [500, null];
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		return Promise.resolve(new Response(status === 204 ? null : text, { status }));
	});
	return { api, asked };
}

const ME = { user: { id: 'u1', name: 'ada', role: 'admin' }, csrf_token: 'secret' };

const SEND: SendBody = {
	action: 'next',
	messages: [],
	parent_message_id: 'p',
	model: 'auto',
	supported_encodings: ['v1']
};

/** As `fetch` waits for an answer that never comes. */
function silence(left: AbortSignal | null | undefined): Promise<never> {
	return new Promise((_, reject) => {
		left?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
	});
}

test('whoever signs in sends the CSRF token with every change from then on', async () => {
	const { api, asked } = server([200, ME], [204, null]);
	await api.signIn('ada', 'password');
	await api.deleteKey('k1');

	expect(asked[1]?.path).toBe('/backend-api/keys/k1');
	expect(asked[1]?.headers.get('x-csrf-token')).toBe('secret');
});

test('a change is sent even if the page is left, and a question is not', async () => {
	const { api, asked } = server([204, null], [200, {}]);
	await api.changeConversation('c1', { is_pinned: true });
	await api.status();

	expect(asked.map(({ outlivesPage }) => outlivesPage)).toEqual([true, false]);
});

test('a refusal carries the words, the status and the code of the server', async () => {
	const error = { message: 'Too long.', code: 'context_length_exceeded' };
	const { api } = server([400, { error }]);

	await expect(api.status()).rejects.toMatchObject({
		message: 'Too long.',
		status: 400,
		code: 'context_length_exceeded'
	});
});

test('an answer that is not ours is still an error with a sentence', async () => {
	const { api } = server([500, '<html>Bad gateway</html>']);

	await expect(api.status()).rejects.toThrow(new ApiError('The server answered 500.', 500, null));
});

test('a proxy that takes nothing so large is not blamed on the server', async () => {
	const { api } = server([413, '<html>Request Entity Too Large</html>']);

	await expect(api.status()).rejects.toMatchObject({ status: 413, code: 'too_large' });
});

test('no answer at all is told apart from a refusal', async () => {
	const api = new Api(() => Promise.reject(new TypeError('Failed to fetch')));

	await expect(api.status()).rejects.toThrow(Unreachable);
});

test('a session that ended is noticed on any request', async () => {
	const { api } = server([401, { error: { message: 'Sign in.', code: 'unauthenticated' } }]);
	let isSignedOut = false;
	api.onsignedout = () => (isSignedOut = true);

	await expect(api.status()).rejects.toThrow('Sign in.');
	expect(isSignedOut).toBe(true);
});

test('nobody signed in is an answer, not an error', async () => {
	const { api } = server([401, { error: { message: 'Sign in.', code: 'unauthenticated' } }]);

	expect(await api.me()).toBeNull();
});

test.each([502, 503, 504])('a proxy without a server behind it (%i) is nobody', async (status) => {
	const api = new Api(() => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status })));

	await expect(api.status()).rejects.toBeInstanceOf(Unreachable);
});

test('a server that says why it cannot is somebody', async () => {
	const body = { error: { message: 'No model is ready.', code: 'engine_down' } };
	const api = new Api(() => Promise.resolve(Response.json(body, { status: 503 })));

	await expect(api.status()).rejects.toMatchObject({ code: 'engine_down', status: 503 });
});

const cut = () =>
	new ReadableStream<Uint8Array>({
		start: (begun) => begun.enqueue(new TextEncoder().encode('{"error": ')),
		pull: (begun) => begun.error(new TypeError('network error'))
	});

test.each([200, 400, 401])('a body that is cut half-way (%i) is no answer', async (status) => {
	const api = new Api(() => Promise.resolve(new Response(cut(), { status })));

	await expect(api.status()).rejects.toBeInstanceOf(Unreachable);
});

test('a yes that is not ours is nobody’s', async () => {
	const { api } = server([200, '<html>Sign in to this network</html>']);

	await expect(api.socketTicket()).rejects.toBeInstanceOf(Unreachable);
});

test('what the page tells of itself gives way to a message', async () => {
	const asked: string[] = [];
	const api = new Api((path, init) => {
		asked.push(path);
		if (path.endsWith('/f/conversation')) return Promise.resolve(new Response());
		return silence(init?.signal);
	});
	const telling = api.tellErrors([]);
	await api.send(SEND, new AbortController().signal);

	await expect(telling).rejects.toBeInstanceOf(Unreachable);
	expect(asked).toEqual(['/backend-api/telemetry', '/backend-api/f/conversation']);
});

/** What is asked while a Send gets no answer twice, and what becomes of it. */
function unanswered(state: Status['state'] | null, left = new AbortController()) {
	vi.useFakeTimers();
	const asked: string[] = [];
	const api = new Api((path, init) => {
		const what = path.replace('/backend-api/', '');
		asked.push(what);
		const isLost = what === 'status' ? state === null : asked.length < 4;
		return isLost ? silence(init?.signal) : Promise.resolve(Response.json({ state }));
	});
	const sent = api.send(SEND, left.signal).then(
		() => 'taken',
		(error: unknown) => (error instanceof Unreachable ? 'unreachable' : 'left')
	);
	return { asked, sent };
}

afterEach(() => vi.useRealTimers());

test('a Send whose answer is lost on the way is sent again while there is a server', async () => {
	const { asked, sent } = unanswered('ready');
	await vi.advanceTimersByTimeAsync(25_000);

	expect(await sent).toBe('taken');
	expect(asked).toEqual(['f/conversation', 'status', 'f/conversation', 'status', 'f/conversation']);
});

test('while a model is loaded it is waited for', async () => {
	const left = new AbortController();
	const { asked, sent } = unanswered('starting', left);
	await vi.advanceTimersByTimeAsync(25_000);
	expect(asked).toEqual(['f/conversation', 'status', 'status']);
	left.abort();

	expect(await sent).toBe('left');
});

test('without a server it has to wait', async () => {
	const { asked, sent } = unanswered(null);
	await vi.advanceTimersByTimeAsync(25_000);

	expect(await sent).toBe('unreachable');
	expect(asked).toEqual(['f/conversation', 'status']);
});

test('whoever takes it back waits for nobody', async () => {
	const left = new AbortController();
	const { asked, sent } = unanswered('ready', left);
	left.abort();

	expect(await sent).toBe('left');
	expect(asked).toEqual(['f/conversation']);
});
