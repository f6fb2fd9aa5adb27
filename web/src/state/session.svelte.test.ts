// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import { Session } from '$/state/session.svelte';

const ADA = { id: 'ada-id', name: 'ada', role: 'admin' };

/** Responses by method and path. Other requests fail as unreachable. */
let responses: Record<string, () => Promise<Response> | Response>;
const fakeApi = () =>
	new Api((path, init) => {
		const respond = responses[`${init?.method} ${path.replace('/backend-api/', '')}`];
		if (respond === undefined) return Promise.reject(new TypeError('Failed to fetch'));
		return Promise.resolve(respond());
	});

const refuse = (status: number) => () =>
	Response.json({ error: { message: 'No.', code: null } }, { status });
const respondMe = () => Response.json({ user: ADA, csrf_token: 'token' });
const respondEmpty = () => new Response(null, { status: 204 });

beforeEach(() => {
	responses = { 'GET me': respondMe };
	localStorage.clear();
});
afterEach(() => vi.useRealTimers());

test('a signed-in person is recognised', async () => {
	const session = new Session(fakeApi());
	await session.check();

	expect(session.user?.name).toBe('ada');
	expect(session.state).toBe('ready');
});

test('a server without accounts is recognised', async () => {
	responses = {
		'GET me': refuse(401),
		'GET accounts/check': () => Response.json({ needs_first_account: true })
	};
	const session = new Session(fakeApi());
	await session.check();

	expect(session.state).toBe('no_accounts');
});

test('a server is unreachable until it answers', async () => {
	responses = {};
	const session = new Session(fakeApi());
	await session.check();
	expect(session.state).toBe('unreachable');

	responses = { 'GET me': respondMe };
	const again = session.check();
	expect(session.state).toBe('unreachable');
	await again;
	expect(session.state).toBe('ready');
});

test('a silent server counts as unreachable after a timeout, and gets one request', async () => {
	vi.useFakeTimers();
	let numRequests = 0;
	let resolve: (response: Response) => void = () => undefined;
	responses = {
		'GET me': () => {
			numRequests += 1;
			return new Promise((done) => (resolve = done));
		}
	};
	const session = new Session(fakeApi());
	void session.check();
	await vi.advanceTimersByTimeAsync(8_000);
	expect(session.state).toBe('unreachable');

	const again = session.check();
	resolve(respondMe());
	await again;
	expect(numRequests).toBe(1);
	expect(session.state).toBe('ready');
});

test('signing out deletes everything but the preferences', async () => {
	localStorage.setItem('hitsend.preferences', '{}');
	localStorage.setItem('hitsend.draft.ada-id.new', 'a secret');
	localStorage.setItem('hitsend.open-folders', '["f"]');
	localStorage.setItem('of another page', 'stays');
	const session = new Session(fakeApi());
	await session.check();
	responses['POST accounts/sign-out'] = respondEmpty;

	expect(await session.signOut()).toBe(true);
	expect(session.user).toBeNull();
	expect(Object.keys(localStorage).sort()).toEqual(['hitsend.preferences', 'of another page']);
});

test('signing out fails without the server, and deletes nothing', async () => {
	localStorage.setItem('hitsend.draft.ada-id.new', 'half a sentence');
	const session = new Session(fakeApi());
	await session.check();

	expect(await session.signOut()).toBe(false);
	expect(session.user?.name).toBe('ada');
	expect(localStorage.getItem('hitsend.draft.ada-id.new')).toBe('half a sentence');
});

test('signing out succeeds if the session has ended already', async () => {
	localStorage.setItem('hitsend.draft.ada-id.new', 'a secret');
	const session = new Session(fakeApi());
	await session.check();
	responses['POST accounts/sign-out'] = refuse(401);

	expect(await session.signOut()).toBe(true);
	expect(localStorage.length).toBe(0);
});

test('an expired session keeps the draft', async () => {
	localStorage.setItem('hitsend.draft.ada-id.new', 'half a sentence');
	const client = fakeApi();
	const session = new Session(client);
	await session.check();
	responses['GET keys'] = refuse(401);
	await expect(client.listKeys()).rejects.toThrow('No.');

	expect(session.user).toBeNull();
	expect(localStorage.getItem('hitsend.draft.ada-id.new')).toBe('half a sentence');
});

test('signing out in one tab signs out the others', async () => {
	const here = new Session(fakeApi());
	const there = new Session(fakeApi());
	await Promise.all([here.check(), there.check()]);
	responses['POST accounts/sign-out'] = respondEmpty;
	await here.signOut();

	await vi.waitFor(() => expect(there.user).toBeNull());
});

test('after the last account is deleted there are no accounts', async () => {
	const session = new Session(fakeApi());
	await session.check();
	responses = {
		'DELETE me': respondEmpty,
		'GET me': refuse(401),
		'GET accounts/check': () => Response.json({ needs_first_account: true })
	};
	await session.deleteAccount('correct horse');

	expect(session.user).toBeNull();
	expect(session.state).toBe('no_accounts');
});
