import { expect, test, vi } from 'vitest';
import { Unreachable } from './client';
import type { RawSocket, Spot } from './connection';
import type { Command, News } from './frames';
import { Socket, comesBack, seenFrom } from './socket';
import { Dropped, type Frame } from './stream';

const TOPIC = 'conversation-turn-t1';
const SPOT: Spot = { turnId: 't1', offset: 2, token: 'pass' };
const CARRY = { c: 0, p: '/x', o: 'append' };

/** A browser's socket whose other end is the test. */
class FakeWire implements RawSocket {
	onopen: RawSocket['onopen'] = null;
	onmessage: RawSocket['onmessage'] = null;
	onclose: RawSocket['onclose'] = null;
	readonly told: { id?: number; command: Command }[] = [];

	send(text: string): void {
		const order = JSON.parse(text) as { id?: number; command: Command };
		this.told.push(order);
		if (order.command.type === 'connect') {
			this.say({ type: 'reply', id: order.id, ok: true, reply: { connection_id: 'k1' } });
		}
	}
	say(frame: object): void {
		this.hear(JSON.stringify(frame));
	}
	hear(data: string): void {
		this.onmessage?.call(this as unknown as WebSocket, { data } as MessageEvent);
	}
	open(): void {
		this.onopen?.call(this as unknown as WebSocket, new Event('open'));
	}
	close(code = 1005): void {
		this.onclose?.call(this as unknown as WebSocket, { code } as CloseEvent);
	}
	commands(type: Command['type']) {
		return this.told.filter(({ command }) => command.type === type);
	}
}

/** A socket, and the connections it has made. */
function socket(ticket: () => Promise<{ websocket_url: string }> = given) {
	const wires: FakeWire[] = [];
	const made = new Socket(
		ticket,
		() => {
			const wire = new FakeWire();
			wires.push(wire);
			return wire;
		},
		() => new Promise((done) => setTimeout(done, 1))
	);
	return { made, wires };
}

const given = () => Promise.resolve({ websocket_url: 'ws://here/x' });

async function connected() {
	const { made, wires } = socket();
	made.open();
	await expect.poll(() => wires).toHaveLength(1);
	const [wire] = wires;
	if (wire === undefined) throw new Error('There is no wire.');
	wire.open();
	await expect.poll(() => made.isOpen).toBe(true);
	return { made, wires, wire };
}

const item = (seq: number, n = 1) => ({
	type: 'message',
	topic_id: TOPIC,
	seq,
	n,
	redelivery: false,
	payload: { payload: { encoded_item: `id: ${seq}\nevent: delta\ndata: ${seq}\n\n` } }
});

/** Reads a turn, in the background. */
function reading(made: Socket, left = new AbortController(), spot = SPOT) {
	const frames: Frame[] = [];
	const read = async () => {
		for await (const frame of made.follow(spot, left.signal)) frames.push(frame);
	};
	const ended = read().catch((error: unknown) => error);
	return { frames, ended, left };
}

const subscribed = (wire: FakeWire, catchups: object[] = []) => {
	const id = wire.commands('subscribe').at(-1)?.id;
	wire.say({ type: 'reply', id, ok: true, reply: { topic_id: TOPIC, catchups, carry: CARRY } });
};

test('a turn is followed from where it was left, each event once', async () => {
	const { made, wire } = await connected();
	const { frames } = reading(made);
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(1);
	expect(wire.commands('subscribe')[0]?.command).toEqual({
		type: 'subscribe',
		topic_id: TOPIC,
		offset: '2',
		token: 'pass'
	});
	subscribed(wire, [item(3), item(5, 2)]);
	wire.say(item(5, 2));
	wire.say(item(6));

	await expect.poll(() => frames.map(({ seq }) => seq)).toEqual([null, 3, 5, 6]);
	expect(JSON.parse(frames[0]?.data ?? '')).toEqual({ type: 'stream_resumed', carry: CARRY });
	await expect.poll(() => wire.commands('ack').at(-1)?.command).toMatchObject({ seq: 6 });
	made.close();
});

test('what is missing is asked for, and read in its place', async () => {
	const { made, wire } = await connected();
	const { frames } = reading(made);
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(1);
	subscribed(wire);
	wire.say(item(5));
	expect(wire.commands('nack')[0]?.command).toMatchObject({ from: 3, to: 4, reason: 'gap' });
	wire.say(item(4, 2));

	await expect.poll(() => frames.map(({ seq }) => seq)).toEqual([null, 4, 5]);
	made.close();
});

test('a connection that is lost ends what is read over it, and is made anew', async () => {
	const { made, wires, wire } = await connected();
	const { ended } = reading(made);
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(1);
	wire.close(1006);

	expect(await ended).toBeInstanceOf(Dropped);
	await expect.poll(() => wires).toHaveLength(2);
	wires[1]?.open();
	await expect.poll(() => made.isOpen).toBe(true);
	expect(wires[1]?.commands('connect')[0]?.command).toMatchObject({ last_connection: 'k1' });
	made.close();
});

test('whoever no longer reads a turn says so', async () => {
	const { made, wire } = await connected();
	const { ended, left } = reading(made);
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(1);
	subscribed(wire);
	left.abort();

	expect(await ended).toBeInstanceOf(Dropped);
	expect(wire.commands('unsubscribe')).toHaveLength(1);
	made.close();
});

test('a turn that is not there is refused as it would be over HTTP', async () => {
	const { made, wire } = await connected();
	const { ended } = reading(made);
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(1);
	const error = { code: 'not_found', message: 'There is no such turn.', retryable: false };
	wire.say({ type: 'nack', id: wire.commands('subscribe')[0]?.id, error });

	expect(await ended).toMatchObject({ status: 404, code: 'not_found' });
	made.close();
});

test('a turn that cannot go on ends, and no other', async () => {
	const { made, wire } = await connected();
	const { ended } = reading(made);
	const other = reading(made, new AbortController(), { ...SPOT, turnId: 't2' });
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(2);
	const error = { code: 'not_found', message: 'There is no such turn.', retryable: false };
	wire.say({ type: 'nack', id: null, topic_id: TOPIC, error });

	expect(await ended).toBeInstanceOf(Dropped);
	expect(wire.commands('unsubscribe').map(({ command }) => command)).toEqual([
		{ type: 'unsubscribe', topic_id: TOPIC }
	]);
	other.left.abort();
	made.close();
});

test('news are passed on, and a ping is answered', async () => {
	const { made, wire } = await connected();
	const heard: News[] = [];
	made.onnews = (news) => heard.push(news);
	const news = { type: 'title_changed', conversation_id: 'c1', title: 'Greetings' };
	wire.say({ type: 'news', news });
	wire.say({ type: 'ping', t: 7 });

	expect(heard).toEqual([news]);
	expect(wire.commands('pong')[0]?.command).toEqual({ type: 'pong', t: 7 });
	made.close();
});

test('a server that cannot be found is looked for again', async () => {
	let numAsked = 0;
	const { made, wires } = socket(() =>
		++numAsked < 3 ? Promise.reject(new Unreachable()) : given()
	);
	made.open();

	await expect.poll(() => wires).toHaveLength(1);
	expect(numAsked).toBe(3);
	made.close();
});

test.each([
	[1001, true],
	[1006, true],
	[1012, true],
	[4401, true],
	[4408, true],
	[1000, false],
	[4400, false],
	[4403, false],
	[4409, false]
])('after code %i there is another connection: %s', (code, isExpected) => {
	expect(comesBack(code)).toBe(isExpected);
});

test('a server that does not answer a subscription is not waited for', async () => {
	const { made, wire } = await connected();
	vi.useFakeTimers();
	const { ended } = reading(made);
	await vi.advanceTimersByTimeAsync(2_000);
	expect(wire.commands('subscribe')).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(1_000);
	vi.useRealTimers();

	expect(await ended).toBeInstanceOf(Dropped);
	expect(made.isOpen).toBe(true);
	made.close();
});

test('a turn that is followed is not given up because it is silent', async () => {
	const { made, wire } = await connected();
	vi.useFakeTimers();
	const { frames } = reading(made);
	await vi.advanceTimersByTimeAsync(1_000);
	subscribed(wire);
	await vi.advanceTimersByTimeAsync(10_000);
	wire.say(item(3));
	await vi.advanceTimersByTimeAsync(1);
	vi.useRealTimers();

	expect(frames.map(({ seq }) => seq)).toEqual([null, 3]);
	made.close();
});

test('a token that does not hold is refused as it would be over HTTP, and nothing else ends', async () => {
	const { made, wire } = await connected();
	const { ended } = reading(made);
	await expect.poll(() => wire.commands('subscribe')).toHaveLength(1);
	const error = { code: 'token_invalid', message: 'Not for you.', retryable: false };
	wire.say({ type: 'nack', id: wire.commands('subscribe')[0]?.id, error });

	expect(await ended).toMatchObject({ status: 401, code: 'token_invalid' });
	expect(made.isOpen).toBe(true);
	made.close();
});

test('a connection that talks nonsense is made anew', async () => {
	const { made, wires, wire } = await connected();
	wire.hear('<html>');

	await expect.poll(() => wires).toHaveLength(2);
	made.close();
});

test.each([
	['https:', 'chat.example', 'wss://chat.example/ws?ticket=1'],
	['http:', '127.0.0.1:8765', 'ws://127.0.0.1:8765/ws?ticket=1']
])('a page at %s//%s finds its socket there', (protocol, host, address) => {
	expect(seenFrom({ protocol, host }, 'ws://upstream:8765/ws?ticket=1')).toBe(address);
});
