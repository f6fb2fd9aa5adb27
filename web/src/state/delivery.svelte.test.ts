// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { SendBody } from '$/api/wire';
import { Delivery, type Fate } from '$/state/delivery.svelte';
import { bodyOf, type Letter } from '$/state/letter';
import { Outbox } from '$/state/outbox';
import { sse } from '$/turn/recorded';
import { Turn } from '$/turn/turn.svelte';

const LETTER: Letter = {
	id: 'm1',
	text: 'Say hello.',
	conversationId: 'c1',
	parent: null,
	edits: null,
	ask: { model: 'auto', sampling: {} },
	isWaiting: false
};
const soon = () => new Promise<void>((done) => setTimeout(done, 1));
const lost = () => {
	throw new TypeError('Failed to fetch');
};
const taken = () => new Response(sse('hello'), { headers: { 'x-turn-exchange-id': 't1' } });

let desks: Delivery[] = [];
beforeEach(() => localStorage.clear());
afterEach(() => {
	for (const desk of desks) desk.leave();
	desks = [];
});

const outbox = (user = 'ada') => new Outbox(localStorage, user);

/** A server that notes the ids of the messages it was sent. */
class Server {
	posted: string[] = [];
	post: () => Response | Promise<Response> = taken;
	status: () => Response | Promise<Response> = () => Response.json({});

	readonly api = new Api(async (path, init) => {
		if (path.endsWith('/status')) return this.status();
		if (!path.endsWith('f/conversation')) return lost();
		const body = JSON.parse(init?.body as string) as SendBody;
		this.posted.push(body.messages[0]?.id ?? '');
		return this.post();
	});
}

/** Somebody's desk in one tab, and what it was told of its letters. */
function desk({ api }: Server, user = 'ada') {
	const delivery = new Delivery(api, outbox(user), soon);
	const fates: Fate[] = [];
	delivery.onsettled = (_, fate) => {
		fates.push(fate);
		return false;
	};
	desks.push(delivery);
	delivery.begin();
	return { delivery, fates };
}

const send = (delivery: Delivery, { api }: Server) =>
	delivery.send(LETTER, new Turn(api, { body: bodyOf(LETTER) }));

test('a letter is kept from Send until the server has taken it', async () => {
	const server = new Server();
	const answer = later();
	server.post = () => answer.response;
	const { delivery, fates } = desk(server);
	const sent = send(delivery, server);
	expect(outbox().find('m1')?.text).toBe('Say hello.');
	expect(delivery.waiting).toEqual([]);
	answer.come(taken());
	await sent;

	expect(fates).toEqual([{ kind: 'taken' }]);
	expect(outbox().letters).toEqual([]);
});

test('a letter that was on its way when the page was left is brought by the next', async () => {
	const server = new Server();
	server.post = () => new Promise(() => undefined);
	const first = desk(server);
	void send(first.delivery, server);
	await expect.poll(() => server.posted).toEqual(['m1']);
	first.delivery.leave();
	server.post = taken;
	const second = desk(server);
	await expect.poll(() => second.fates).toEqual([{ kind: 'taken' }]);

	expect(server.posted).toEqual(['m1', 'm1']);
	expect(first.fates).toEqual([]);
	expect(outbox().letters).toEqual([]);
});

test('a letter that finds no server waits, whatever the browser thinks of its network', async () => {
	const server = new Server();
	server.post = lost;
	server.status = lost;
	const { delivery, fates } = desk(server);
	void send(delivery, server);
	await expect.poll(() => delivery.waitingIn('c1')?.text).toBe('Say hello.');
	server.post = taken;
	server.status = () => Response.json({});
	await expect.poll(() => fates).toEqual([{ kind: 'waiting' }, { kind: 'taken' }]);

	expect(delivery.waiting).toEqual([]);
	expect(new Set(server.posted)).toEqual(new Set(['m1']));
});

test('what is taken back while the server is being looked for is not sent', async () => {
	const server = new Server();
	server.post = lost;
	const answer = later();
	let looked = 0;
	server.status = () => {
		looked += 1;
		return answer.response;
	};
	const { delivery } = desk(server);
	const sent = send(delivery, server);
	await expect.poll(() => looked).toBe(1);
	const numPosted = server.posted.length;
	expect(delivery.takeBack('m1')?.text).toBe('Say hello.');
	server.post = taken;
	answer.come(Response.json({}));
	await sent;

	expect(server.posted).toHaveLength(numPosted);
	expect(delivery.takeBack('m1')).toBeNull();
});

test('what is taken back in one tab is not sent by another', async () => {
	const server = new Server();
	server.post = lost;
	server.status = lost;
	const [one, two] = [desk(server).delivery, desk(server).delivery];
	const sent = send(one, server);
	await expect.poll(() => one.waiting).toHaveLength(1);
	dispatchEvent(new StorageEvent('storage', { key: 'hitsend.letter.ada.m1' }));
	expect(two.waitingIn('c1')?.id).toBe('m1');
	two.takeBack('m1');
	const numPosted = server.posted.length;
	server.status = () => Response.json({});
	server.post = taken;
	await sent;

	expect(server.posted).toHaveLength(numPosted);
});

test('a letter the server will not have comes back', async () => {
	const server = new Server();
	server.post = () =>
		Response.json({ error: { message: 'Too long.', code: null } }, { status: 400 });
	const { delivery, fates } = desk(server);
	await send(delivery, server);

	expect(fates).toMatchObject([{ kind: 'returned', failure: { message: 'Too long.' } }]);
	expect(outbox().letters).toEqual([]);
});

test('a letter waits until what it follows is over', async () => {
	const server = new Server();
	server.post = lost;
	const { delivery, fates } = desk(server);
	let isDue = false;
	let numAsked = 0;
	delivery.isDue = () => {
		numAsked += 1;
		return isDue;
	};
	void send(delivery, server);
	await expect.poll(() => numAsked).toBeGreaterThan(0);
	const numPosted = server.posted.length;
	await expect.poll(() => numAsked).toBeGreaterThan(2);
	expect(server.posted).toHaveLength(numPosted);
	server.post = taken;
	isDue = true;

	await expect.poll(() => fates.at(-1)).toEqual({ kind: 'taken' });
});

test('nobody brings what another person wrote, nor keeps it after they left', async () => {
	const server = new Server();
	const answer = later();
	server.post = () => answer.response;
	const { delivery } = desk(server);
	const sent = send(delivery, server);
	await expect.poll(() => server.posted).toHaveLength(1);
	expect(outbox('bob').letters).toEqual([]);
	delivery.leave();
	localStorage.clear();
	answer.fail(new TypeError('Failed to fetch'));
	await sent;

	expect(localStorage).toHaveLength(0);
});

test('a letter whose delivery broke can be sent again', async () => {
	const server = new Server();
	const { delivery, fates } = desk(server);
	const { onsettled } = delivery;
	delivery.onsettled = () => {
		throw new Error('A bug.');
	};
	await expect(send(delivery, server)).rejects.toThrow('A bug.');
	delivery.onsettled = onsettled;
	await send(delivery, server);

	expect(fates).toEqual([{ kind: 'taken' }]);
});

test('a letter that was taken after all does not wait, and is not sent again', async () => {
	const server = new Server();
	server.post = lost;
	const { delivery } = desk(server);
	let isSaid = false;
	delivery.isDue = () => false;
	delivery.isSaid = () => isSaid;
	const sent = send(delivery, server);
	await expect.poll(() => delivery.waitingIn('c1')?.id).toBe('m1');
	const numPosted = server.posted.length;
	isSaid = true;
	expect(delivery.waitingIn('c1')).toBeNull();
	expect(delivery.takeBack('m1')).toBeNull();
	await sent;

	expect(outbox().letters).toEqual([]);
	expect(server.posted).toHaveLength(numPosted);
});

/** A response that comes when the test says so. */
function later() {
	let come: (response: Response) => void = () => undefined;
	let fail: (error: Error) => void = () => undefined;
	const response = new Promise<Response>((resolve, reject) => {
		come = resolve;
		fail = reject;
	});
	return { response, come, fail };
}
