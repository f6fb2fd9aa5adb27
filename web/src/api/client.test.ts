import { afterEach, expect, test, vi } from 'vitest';
import { Api } from './client';
import { ApiError, Unreachable } from './http';
import type { SendBody, Status } from './wire';

interface RecordedRequest {
	path: string;
	method: string | undefined;
	headers: Headers;
	outlivesPage: boolean | undefined;
}

/** An API whose server gives these answers in order, and its requests. */
function fakeApi(...answers: [number, unknown][]): { api: Api; requests: RecordedRequest[] } {
	const requests: RecordedRequest[] = [];
	const api = new Api((path, init) => {
		const outlivesPage = init?.keepalive;
		requests.push({
			path,
			method: init?.method,
			headers: new Headers(init?.headers),
			outlivesPage
		});
		const [status, body] = answers.shift() ?? [500, null];
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		return Promise.resolve(new Response(status === 204 ? null : text, { status }));
	});
	return { api, requests };
}

const ME = { user: { id: 'u1', name: 'ada', role: 'admin' }, csrf_token: 'secret' };

const SEND: SendBody = {
	action: 'next',
	messages: [],
	parent_message_id: 'p',
	model: 'auto',
	supported_encodings: ['v1']
};

/** A `fetch` whose answer never comes. */
function neverRespond(abort: AbortSignal | null | undefined): Promise<never> {
	return new Promise((_, reject) => {
		abort?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
	});
}

test('after signing in every change carries the CSRF token', async () => {
	const { api, requests } = fakeApi([200, ME], [204, null]);
	await api.signIn('ada', 'password');
	await api.deleteKey('k1');

	expect(requests[1]?.path).toBe('/backend-api/keys/k1');
	expect(requests[1]?.headers.get('x-csrf-token')).toBe('secret');
});

test('a change outlives the page, and a read does not', async () => {
	const { api, requests } = fakeApi([204, null], [200, {}]);
	await api.changeConversation('c1', { is_pinned: true });
	await api.getStatus();

	expect(requests.map(({ outlivesPage }) => outlivesPage)).toEqual([true, false]);
});

test('an error carries the message, status, code and request id of the server', async () => {
	const error = { message: 'Too long.', code: 'context_length_exceeded' };
	const { api } = fakeApi([400, { error, request_id: '3f2a-9c0d' }]);

	await expect(api.getStatus()).rejects.toMatchObject({
		message: 'Too long.',
		status: 400,
		code: 'context_length_exceeded',
		requestId: '3f2a-9c0d'
	});
});

test('an error page of a proxy becomes an error with the status', async () => {
	const { api } = fakeApi([500, '<html>Bad gateway</html>']);

	await expect(api.getStatus()).rejects.toThrow(
		new ApiError('The server answered 500.', 500, null)
	);
});

test('a 413 of a proxy has its own code', async () => {
	const { api } = fakeApi([413, '<html>Request Entity Too Large</html>']);

	await expect(api.getStatus()).rejects.toMatchObject({ status: 413, code: 'too_large' });
});

test('no answer at all is Unreachable, not an ApiError', async () => {
	const api = new Api(() => Promise.reject(new TypeError('Failed to fetch')));

	await expect(api.getStatus()).rejects.toThrow(Unreachable);
});

test('every request notices that the session has ended', async () => {
	const { api } = fakeApi([401, { error: { message: 'Sign in.', code: 'unauthenticated' } }]);
	let isSignedOut = false;
	api.onsignedout = () => (isSignedOut = true);

	await expect(api.getStatus()).rejects.toThrow('Sign in.');
	expect(isSignedOut).toBe(true);
});

test('me is null while nobody is signed in', async () => {
	const { api } = fakeApi([401, { error: { message: 'Sign in.', code: 'unauthenticated' } }]);

	expect(await api.getMe()).toBeNull();
});

test.each([502, 503, 504])(
	'a %i of a proxy means that the server is unreachable',
	async (status) => {
		const api = new Api(() => Promise.resolve(new Response('<h1>Bad gateway</h1>', { status })));

		await expect(api.getStatus()).rejects.toBeInstanceOf(Unreachable);
	}
);

test('a 503 of our own server is an ApiError with its code', async () => {
	const body = { error: { message: 'No model is ready.', code: 'engine_down' } };
	const api = new Api(() => Promise.resolve(Response.json(body, { status: 503 })));

	await expect(api.getStatus()).rejects.toMatchObject({ code: 'engine_down', status: 503 });
});

const brokenBody = () =>
	new ReadableStream<Uint8Array>({
		start: (controller) => controller.enqueue(new TextEncoder().encode('{"error": ')),
		pull: (controller) => controller.error(new TypeError('network error'))
	});

test.each([200, 400, 401])('a body that breaks off (%i) is no answer', async (status) => {
	const api = new Api(() => Promise.resolve(new Response(brokenBody(), { status })));

	await expect(api.getStatus()).rejects.toBeInstanceOf(Unreachable);
});

test('a 200 that is not JSON means that the server is unreachable', async () => {
	const { api } = fakeApi([200, '<html>Sign in to this network</html>']);

	await expect(api.requestSocketTicket()).rejects.toBeInstanceOf(Unreachable);
});

test('a Send aborts telemetry', async () => {
	const requests: string[] = [];
	const api = new Api((path, init) => {
		requests.push(path);
		if (path.endsWith('/f/conversation')) return Promise.resolve(new Response());
		return neverRespond(init?.signal);
	});
	const report = api.reportErrors([]);
	await api.send(SEND, new AbortController().signal);

	await expect(report).rejects.toBeInstanceOf(Unreachable);
	expect(requests).toEqual(['/backend-api/telemetry', '/backend-api/f/conversation']);
});

/** Sends while the first two answers are lost; returns the requests and the outcome. */
function sendUnanswered(state: Status['state'] | null, abort = new AbortController()) {
	vi.useFakeTimers();
	const requests: string[] = [];
	const api = new Api((path, init) => {
		const what = path.replace('/backend-api/', '');
		requests.push(what);
		const isLost = what === 'status' ? state === null : requests.length < 4;
		return isLost ? neverRespond(init?.signal) : Promise.resolve(Response.json({ state }));
	});
	const sent = api.send(SEND, abort.signal).then(
		() => 'accepted',
		(error: unknown) => (error instanceof Unreachable ? 'unreachable' : 'aborted')
	);
	return { requests, sent };
}

afterEach(() => vi.useRealTimers());

test('a Send whose answer is lost is sent again while the server is up', async () => {
	const { requests, sent } = sendUnanswered('ready');
	await vi.advanceTimersByTimeAsync(25_000);

	expect(await sent).toBe('accepted');
	expect(requests).toEqual([
		'f/conversation',
		'status',
		'f/conversation',
		'status',
		'f/conversation'
	]);
});

test('a Send waits while a model is loading', async () => {
	const abort = new AbortController();
	const { requests, sent } = sendUnanswered('starting', abort);
	await vi.advanceTimersByTimeAsync(25_000);
	expect(requests).toEqual(['f/conversation', 'status', 'status']);
	abort.abort();

	expect(await sent).toBe('aborted');
});

test('a Send fails as unreachable when the server is down', async () => {
	const { requests, sent } = sendUnanswered(null);
	await vi.advanceTimersByTimeAsync(25_000);

	expect(await sent).toBe('unreachable');
	expect(requests).toEqual(['f/conversation', 'status']);
});

test('an aborted Send ends at once', async () => {
	const abort = new AbortController();
	const { requests, sent } = sendUnanswered('ready', abort);
	abort.abort();

	expect(await sent).toBe('aborted');
	expect(requests).toEqual(['f/conversation']);
});

test.each([
	[{}, 'none'],
	[{ 'x-conduit-token': 'conduit' }, 'success']
])('a Send with the headers %j reports the prepare state %s', async (headers, state) => {
	const bodies: SendBody[] = [];
	const api = new Api((_path, init) => {
		bodies.push(JSON.parse(String(init?.body)) as SendBody);
		return Promise.resolve(new Response());
	});
	api.sendHeaders = () => headers;
	await api.send(SEND, new AbortController().signal);

	expect(bodies).toEqual([{ ...SEND, client_prepare_state: state }]);
});
