// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import { Session } from '$/state/session.svelte';

const ADA = { id: 'ada-id', name: 'ada', role: 'admin' };

/** What the server answers, by method and path. Whatever is not here cannot be reached. */
let answers: Record<string, () => Promise<Response> | Response>;
const api = () =>
	new Api((path, init) => {
		const answer = answers[`${init?.method} ${path.replace('/backend-api/', '')}`];
		if (answer === undefined) return Promise.reject(new TypeError('Failed to fetch'));
		return Promise.resolve(answer());
	});

const refusal = (status: number) => () =>
	Response.json({ error: { message: 'No.', code: null } }, { status });
const me = () => Response.json({ user: ADA, csrf_token: 'token' });
const nothing = () => new Response(null, { status: 204 });

beforeEach(() => {
	answers = { 'GET me': me };
	localStorage.clear();
});
afterEach(() => vi.useRealTimers());

test('somebody who is signed in is known', async () => {
	const session = new Session(api());
	await session.begin();

	expect(session.user?.name).toBe('ada');
	expect(session.state).toBe('known');
});

test('a house without people says so', async () => {
	answers = {
		'GET me': refusal(401),
		'GET accounts/check': () => Response.json({ needs_first_account: true })
	};
	const session = new Session(api());
	await session.begin();

	expect(session.state).toBe('empty');
});

test('a server that does not answer is unreachable, and stays so until it does', async () => {
	answers = {};
	const session = new Session(api());
	await session.begin();
	expect(session.state).toBe('unreachable');

	answers = { 'GET me': me };
	const again = session.begin();
	expect(session.state).toBe('unreachable');
	await again;
	expect(session.state).toBe('known');
});

test('a server that is silent counts as unreachable after a while, and is asked only once', async () => {
	vi.useFakeTimers();
	let numAsked = 0;
	let speak: (response: Response) => void = () => undefined;
	answers = {
		'GET me': () => {
			numAsked += 1;
			return new Promise((resolve) => (speak = resolve));
		}
	};
	const session = new Session(api());
	void session.begin();
	await vi.advanceTimersByTimeAsync(8_000);
	expect(session.state).toBe('unreachable');

	const again = session.begin();
	speak(me());
	await again;
	expect(numAsked).toBe(1);
	expect(session.state).toBe('known');
});

test('who signs out leaves nothing behind but how the browser likes the page', async () => {
	localStorage.setItem('hitsend.preferences', '{}');
	localStorage.setItem('hitsend.draft.ada-id.new', 'a secret');
	localStorage.setItem('hitsend.open-folders', '["f"]');
	localStorage.setItem('of another page', 'stays');
	const session = new Session(api());
	await session.begin();
	answers['POST accounts/sign-out'] = nothing;

	expect(await session.signOut()).toBe(true);
	expect(session.user).toBeNull();
	expect(Object.keys(localStorage).sort()).toEqual(['hitsend.preferences', 'of another page']);
});

test('without the server nobody is signed out, and nothing is forgotten', async () => {
	localStorage.setItem('hitsend.draft.ada-id.new', 'half a sentence');
	const session = new Session(api());
	await session.begin();

	expect(await session.signOut()).toBe(false);
	expect(session.user?.name).toBe('ada');
	expect(localStorage.getItem('hitsend.draft.ada-id.new')).toBe('half a sentence');
});

test('who is out already can sign out', async () => {
	localStorage.setItem('hitsend.draft.ada-id.new', 'a secret');
	const session = new Session(api());
	await session.begin();
	answers['POST accounts/sign-out'] = refusal(401);

	expect(await session.signOut()).toBe(true);
	expect(localStorage.length).toBe(0);
});

test('a session that ran out keeps the draft for when they are back', async () => {
	localStorage.setItem('hitsend.draft.ada-id.new', 'half a sentence');
	const client = api();
	const session = new Session(client);
	await session.begin();
	answers['GET keys'] = refusal(401);
	await expect(client.keys()).rejects.toThrow('No.');

	expect(session.user).toBeNull();
	expect(localStorage.getItem('hitsend.draft.ada-id.new')).toBe('half a sentence');
});

test('who signs out in one tab is out in the others', async () => {
	const here = new Session(api());
	const there = new Session(api());
	await Promise.all([here.begin(), there.begin()]);
	answers['POST accounts/sign-out'] = nothing;
	await here.signOut();

	await vi.waitFor(() => expect(there.user).toBeNull());
});

test('the last person to delete their account leaves a house without people', async () => {
	const session = new Session(api());
	await session.begin();
	answers = {
		'DELETE me': nothing,
		'GET me': refusal(401),
		'GET accounts/check': () => Response.json({ needs_first_account: true })
	};
	await session.deleteAccount('correct horse');

	expect(session.user).toBeNull();
	expect(session.state).toBe('empty');
});
