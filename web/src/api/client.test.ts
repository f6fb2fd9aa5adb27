import { expect, test } from 'vitest';
import { Api, ApiError, Unreachable } from './client';
import type { SendBody } from './wire';

interface Asked {
	path: string;
	method: string | undefined;
	headers: Headers;
}

/** A server that gives these answers, one after the other, and remembers what it was asked. */
function server(...answers: [number, unknown][]): { api: Api; asked: Asked[] } {
	const asked: Asked[] = [];
	const api = new Api((path, init) => {
		asked.push({ path, method: init?.method, headers: new Headers(init?.headers) });
		const [status, body] = answers.shift() ?? [500, null];
		const text = typeof body === 'string' ? body : JSON.stringify(body);
		return Promise.resolve(new Response(status === 204 ? null : text, { status }));
	});
	return { api, asked };
}

const ME = { user: { id: 'u1', name: 'ada', role: 'admin' }, csrf_token: 'secret' };

test('whoever signs in sends the CSRF token with every change from then on', async () => {
	const { api, asked } = server([200, ME], [204, null]);
	await api.signIn('ada', 'password');
	await api.deleteKey('k1');

	expect(asked[1]?.path).toBe('/backend-api/keys/k1');
	expect(asked[1]?.headers.get('x-csrf-token')).toBe('secret');
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
		return new Promise((_, reject) => {
			init?.signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
		});
	});
	const telling = api.tellErrors([]);
	const body: SendBody = {
		action: 'next',
		messages: [],
		parent_message_id: 'p',
		model: 'auto',
		supported_encodings: ['v1']
	};
	await api.send(body, new AbortController().signal);

	await expect(telling).rejects.toBeInstanceOf(Unreachable);
	expect(asked).toEqual(['/backend-api/telemetry', '/backend-api/f/conversation']);
});
