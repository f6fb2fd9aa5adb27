// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { SendBody } from '$/api/wire';
import { Delivery, type DeliveryResult } from '$/state/delivery.svelte';
import { Outbox, type OutgoingMessage } from '$/state/outbox';
import { buildSendBody } from '$/state/sendBody';
import { readStream } from '$/turn/recordedTurns';
import { Turn } from '$/turn/turn.svelte';

const OUTGOING: OutgoingMessage = {
	id: 'm1',
	text: 'Say hello.',
	conversationId: 'c1',
	parent: null,
	edits: null,
	ask: { model: 'auto', sampling: {} },
	isWaiting: false
};
const noBackoff = () => new Promise<void>((done) => setTimeout(done, 1));
const failFetch = () => {
	throw new TypeError('Failed to fetch');
};
const acceptSend = () =>
	new Response(readStream('hello'), { headers: { 'x-turn-exchange-id': 't1' } });

let deliveries: Delivery[] = [];
beforeEach(() => localStorage.clear());
afterEach(() => {
	for (const delivery of deliveries) delivery.close();
	deliveries = [];
});

const openOutbox = (user = 'ada') => new Outbox(localStorage, user);

/** A fake server that records the ids of the messages it gets. */
class FakeServer {
	posted: string[] = [];
	post: () => Response | Promise<Response> = acceptSend;
	status: () => Response | Promise<Response> = () => Response.json({});

	readonly api = new Api(async (path, init) => {
		if (path.endsWith('/status')) return this.status();
		if (!path.endsWith('f/conversation')) return failFetch();
		const body = JSON.parse(init?.body as string) as SendBody;
		this.posted.push(body.messages[0]?.id ?? '');
		return this.post();
	});
}

/** Starts the delivery of one tab, and records its results. */
function startDelivery({ api }: FakeServer, user = 'ada') {
	const delivery = new Delivery(api, openOutbox(user), noBackoff);
	const results: DeliveryResult[] = [];
	delivery.onsettled = (_, result) => {
		results.push(result);
		return false;
	};
	deliveries.push(delivery);
	delivery.start();
	return { delivery, results };
}

const send = (delivery: Delivery, { api }: FakeServer) =>
	delivery.send(OUTGOING, new Turn(api, { body: buildSendBody(OUTGOING) }));

test('a message stays in the outbox until the server has accepted it', async () => {
	const server = new FakeServer();
	const answer = deferResponse();
	server.post = () => answer.response;
	const { delivery, results } = startDelivery(server);
	const sent = send(delivery, server);
	expect(openOutbox().find('m1')?.text).toBe('Say hello.');
	expect(delivery.waiting).toEqual([]);
	answer.resolve(acceptSend());
	await sent;

	expect(results).toEqual([{ kind: 'accepted' }]);
	expect(openOutbox().messages).toEqual([]);
});

test('a message that was being sent when the page closed is sent by the next page', async () => {
	const server = new FakeServer();
	server.post = () => new Promise(() => undefined);
	const first = startDelivery(server);
	void send(first.delivery, server);
	await expect.poll(() => server.posted).toEqual(['m1']);
	first.delivery.close();
	server.post = acceptSend;
	const second = startDelivery(server);
	await expect.poll(() => second.results).toEqual([{ kind: 'accepted' }]);

	expect(server.posted).toEqual(['m1', 'm1']);
	expect(first.results).toEqual([]);
	expect(openOutbox().messages).toEqual([]);
});

test('a message waits for an unreachable server, even if the browser is online', async () => {
	const server = new FakeServer();
	server.post = failFetch;
	server.status = failFetch;
	const { delivery, results } = startDelivery(server);
	void send(delivery, server);
	await expect.poll(() => delivery.waitingIn('c1')?.text).toBe('Say hello.');
	server.post = acceptSend;
	server.status = () => Response.json({});
	await expect.poll(() => results).toEqual([{ kind: 'waiting' }, { kind: 'accepted' }]);

	expect(delivery.waiting).toEqual([]);
	expect(new Set(server.posted)).toEqual(new Set(['m1']));
});

test('a message that is cancelled while it waits is not sent', async () => {
	const server = new FakeServer();
	server.post = failFetch;
	const answer = deferResponse();
	let numStatusCalls = 0;
	server.status = () => {
		numStatusCalls += 1;
		return answer.response;
	};
	const { delivery } = startDelivery(server);
	const sent = send(delivery, server);
	await expect.poll(() => numStatusCalls).toBe(1);
	const numPosted = server.posted.length;
	expect(delivery.cancel('m1')?.text).toBe('Say hello.');
	server.post = acceptSend;
	answer.resolve(Response.json({}));
	await sent;

	expect(server.posted).toHaveLength(numPosted);
	expect(delivery.cancel('m1')).toBeNull();
});

test('a message that is cancelled in one tab is not sent by another', async () => {
	const server = new FakeServer();
	server.post = failFetch;
	server.status = failFetch;
	const [one, two] = [startDelivery(server).delivery, startDelivery(server).delivery];
	const sent = send(one, server);
	await expect.poll(() => one.waiting).toHaveLength(1);
	dispatchEvent(new StorageEvent('storage', { key: 'hitsend.letter.ada.m1' }));
	expect(two.waitingIn('c1')?.id).toBe('m1');
	two.cancel('m1');
	const numPosted = server.posted.length;
	server.status = () => Response.json({});
	server.post = acceptSend;
	await sent;

	expect(server.posted).toHaveLength(numPosted);
});

test('a refused message is reported and leaves the outbox', async () => {
	const server = new FakeServer();
	server.post = () =>
		Response.json({ error: { message: 'Too long.', code: null } }, { status: 400 });
	const { delivery, results } = startDelivery(server);
	await send(delivery, server);

	expect(results).toMatchObject([{ kind: 'refused', failure: { message: 'Too long.' } }]);
	expect(openOutbox().messages).toEqual([]);
});

test('a waiting message is sent when `canSend` allows it', async () => {
	const server = new FakeServer();
	server.post = failFetch;
	const { delivery, results } = startDelivery(server);
	let isDue = false;
	let numAsked = 0;
	delivery.canSend = () => {
		numAsked += 1;
		return isDue;
	};
	void send(delivery, server);
	await expect.poll(() => numAsked).toBeGreaterThan(0);
	const numPosted = server.posted.length;
	await expect.poll(() => numAsked).toBeGreaterThan(2);
	expect(server.posted).toHaveLength(numPosted);
	server.post = acceptSend;
	isDue = true;

	await expect.poll(() => results.at(-1)).toEqual({ kind: 'accepted' });
});

test('a message belongs to its author, and is not stored again after sign-out', async () => {
	const server = new FakeServer();
	const answer = deferResponse();
	server.post = () => answer.response;
	const { delivery } = startDelivery(server);
	const sent = send(delivery, server);
	await expect.poll(() => server.posted).toHaveLength(1);
	expect(openOutbox('bob').messages).toEqual([]);
	delivery.close();
	localStorage.clear();
	answer.reject(new TypeError('Failed to fetch'));
	await sent;

	expect(localStorage).toHaveLength(0);
});

test('a message can be sent again after its delivery threw', async () => {
	const server = new FakeServer();
	const { delivery, results } = startDelivery(server);
	const { onsettled } = delivery;
	delivery.onsettled = () => {
		throw new Error('A bug.');
	};
	await expect(send(delivery, server)).rejects.toThrow('A bug.');
	delivery.onsettled = onsettled;
	await send(delivery, server);

	expect(results).toEqual([{ kind: 'accepted' }]);
});

test('a waiting message that the server has stored is not sent again', async () => {
	const server = new FakeServer();
	server.post = failFetch;
	const { delivery } = startDelivery(server);
	let isStored = false;
	delivery.canSend = () => false;
	delivery.isStored = () => isStored;
	const sent = send(delivery, server);
	await expect.poll(() => delivery.waitingIn('c1')?.id).toBe('m1');
	const numPosted = server.posted.length;
	isStored = true;
	expect(delivery.waitingIn('c1')).toBeNull();
	expect(delivery.cancel('m1')).toBeNull();
	await sent;

	expect(openOutbox().messages).toEqual([]);
	expect(server.posted).toHaveLength(numPosted);
});

/** A response that the test resolves or rejects. */
function deferResponse() {
	let resolve: (response: Response) => void = () => undefined;
	let reject: (error: Error) => void = () => undefined;
	const response = new Promise<Response>((onresolve, onreject) => {
		resolve = onresolve;
		reject = onreject;
	});
	return { response, resolve, reject };
}
