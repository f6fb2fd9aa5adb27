import { expect, test, vi } from 'vitest';
import { Unreachable } from './http';
import type { RawSocket, ResumePoint } from './socketConnection';
import type { Command, News } from './wire';
import { Socket, shouldReconnect, toPageOrigin } from './socket';
import { Dropped, type Frame } from './stream';

const TOPIC = 'conversation-turn-t1';
const RESUME_POINT: ResumePoint = { turnId: 't1', offset: 2, token: 'pass' };
const CARRY = { c: 0, p: '/x', o: 'append' };

/** A WebSocket whose server is the test. */
class FakeWebSocket implements RawSocket {
	onopen: RawSocket['onopen'] = null;
	onmessage: RawSocket['onmessage'] = null;
	onclose: RawSocket['onclose'] = null;
	readonly sent: { id?: number; command: Command }[] = [];

	send(text: string): void {
		const message = JSON.parse(text) as { id?: number; command: Command };
		this.sent.push(message);
		if (message.command.type === 'connect') {
			this.receive({ type: 'reply', id: message.id, ok: true, reply: { connection_id: 'k1' } });
		}
	}
	receive(frame: object): void {
		this.receiveText(JSON.stringify(frame));
	}
	receiveText(data: string): void {
		this.onmessage?.call(this as unknown as WebSocket, { data } as MessageEvent);
	}
	open(): void {
		this.onopen?.call(this as unknown as WebSocket, new Event('open'));
	}
	close(code = 1005): void {
		this.onclose?.call(this as unknown as WebSocket, { code } as CloseEvent);
	}
	commands(type: Command['type']) {
		return this.sent.filter(({ command }) => command.type === type);
	}
}

/** A socket, and the fake connections it opens. */
function createSocket(getTicket: () => Promise<{ websocket_url: string }> = issueTicket) {
	const fakes: FakeWebSocket[] = [];
	const socket = new Socket(
		getTicket,
		() => {
			const fake = new FakeWebSocket();
			fakes.push(fake);
			return fake;
		},
		() => new Promise((done) => setTimeout(done, 1))
	);
	return { socket, fakes };
}

const issueTicket = () => Promise.resolve({ websocket_url: 'ws://here/x' });

async function openSocket() {
	const { socket, fakes } = createSocket();
	socket.open();
	await expect.poll(() => fakes).toHaveLength(1);
	const [fake] = fakes;
	if (fake === undefined) throw new Error('No connection was opened.');
	fake.open();
	await expect.poll(() => socket.isOpen).toBe(true);
	return { socket, fakes, fake };
}

const item = (seq: number, n = 1) => ({
	type: 'message',
	topic_id: TOPIC,
	seq,
	n,
	redelivery: false,
	payload: { payload: { encoded_item: `id: ${seq}\nevent: delta\ndata: ${seq}\n\n` } }
});

/** Reads a turn in the background. */
function startReading(socket: Socket, stop = new AbortController(), from = RESUME_POINT) {
	const frames: Frame[] = [];
	const read = async () => {
		for await (const frame of socket.follow(from, stop.signal)) frames.push(frame);
	};
	const ended = read().catch((error: unknown) => error);
	return { frames, ended, stop };
}

const confirmSubscription = (fake: FakeWebSocket, catchups: object[] = []) => {
	const id = fake.commands('subscribe').at(-1)?.id;
	fake.receive({ type: 'reply', id, ok: true, reply: { topic_id: TOPIC, catchups, carry: CARRY } });
};

test('a turn is resumed after its last event, and each event is read once', async () => {
	const { socket, fake } = await openSocket();
	const { frames } = startReading(socket);
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(1);
	expect(fake.commands('subscribe')[0]?.command).toEqual({
		type: 'subscribe',
		topic_id: TOPIC,
		offset: '2',
		token: 'pass'
	});
	confirmSubscription(fake, [item(3), item(5, 2)]);
	fake.receive(item(5, 2));
	fake.receive(item(6));

	await expect.poll(() => frames.map(({ seq }) => seq)).toEqual([null, 3, 5, 6]);
	expect(JSON.parse(frames[0]?.data ?? '')).toEqual({ type: 'stream_resumed', carry: CARRY });
	await expect.poll(() => fake.commands('ack').at(-1)?.command).toMatchObject({ seq: 6 });
	socket.close();
});

test('missing events are requested and read in order', async () => {
	const { socket, fake } = await openSocket();
	const { frames } = startReading(socket);
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(1);
	confirmSubscription(fake);
	fake.receive(item(5));
	expect(fake.commands('nack')[0]?.command).toMatchObject({ from: 3, to: 4, reason: 'gap' });
	fake.receive(item(4, 2));

	await expect.poll(() => frames.map(({ seq }) => seq)).toEqual([null, 4, 5]);
	socket.close();
});

test('a lost connection ends its turns and is opened again', async () => {
	const { socket, fakes, fake } = await openSocket();
	const { ended } = startReading(socket);
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(1);
	fake.close(1006);

	expect(await ended).toBeInstanceOf(Dropped);
	await expect.poll(() => fakes).toHaveLength(2);
	fakes[1]?.open();
	await expect.poll(() => socket.isOpen).toBe(true);
	expect(fakes[1]?.commands('connect')[0]?.command).toMatchObject({ last_connection: 'k1' });
	socket.close();
});

test('a turn that is no longer read is unsubscribed', async () => {
	const { socket, fake } = await openSocket();
	const { ended, stop } = startReading(socket);
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(1);
	confirmSubscription(fake);
	stop.abort();

	expect(await ended).toBeInstanceOf(Dropped);
	expect(fake.commands('unsubscribe')).toHaveLength(1);
	socket.close();
});

test('an unknown turn is refused with the same error as over HTTP', async () => {
	const { socket, fake } = await openSocket();
	const { ended } = startReading(socket);
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(1);
	const error = { code: 'not_found', message: 'There is no such turn.', retryable: false };
	fake.receive({ type: 'nack', id: fake.commands('subscribe')[0]?.id, error });

	expect(await ended).toMatchObject({ status: 404, code: 'not_found' });
	socket.close();
});

test('a nack for one turn ends that turn and no other', async () => {
	const { socket, fake } = await openSocket();
	const { ended } = startReading(socket);
	const other = startReading(socket, new AbortController(), { ...RESUME_POINT, turnId: 't2' });
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(2);
	const error = { code: 'not_found', message: 'There is no such turn.', retryable: false };
	fake.receive({ type: 'nack', id: null, topic_id: TOPIC, error });

	expect(await ended).toBeInstanceOf(Dropped);
	expect(fake.commands('unsubscribe').map(({ command }) => command)).toEqual([
		{ type: 'unsubscribe', topic_id: TOPIC }
	]);
	other.stop.abort();
	socket.close();
});

test('news are passed on, and a ping is answered', async () => {
	const { socket, fake } = await openSocket();
	const received: News[] = [];
	socket.onnews = (news) => received.push(news);
	const news = { type: 'title_changed', conversation_id: 'c1', title: 'Greetings' };
	fake.receive({ type: 'news', news });
	fake.receive({ type: 'ping', t: 7 });

	expect(received).toEqual([news]);
	expect(fake.commands('pong')[0]?.command).toEqual({ type: 'pong', t: 7 });
	socket.close();
});

test('an unreachable server is tried again', async () => {
	let numAsked = 0;
	const { socket, fakes } = createSocket(() =>
		++numAsked < 3 ? Promise.reject(new Unreachable()) : issueTicket()
	);
	socket.open();

	await expect.poll(() => fakes).toHaveLength(1);
	expect(numAsked).toBe(3);
	socket.close();
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
])('after close code %i the socket reconnects: %s', (code, isExpected) => {
	expect(shouldReconnect(code)).toBe(isExpected);
});

test('a subscription that is not confirmed ends after three seconds', async () => {
	const { socket, fake } = await openSocket();
	vi.useFakeTimers();
	const { ended } = startReading(socket);
	await vi.advanceTimersByTimeAsync(2_000);
	expect(fake.commands('subscribe')).toHaveLength(1);
	await vi.advanceTimersByTimeAsync(1_000);
	vi.useRealTimers();

	expect(await ended).toBeInstanceOf(Dropped);
	expect(socket.isOpen).toBe(true);
	socket.close();
});

test('a turn that is followed is not dropped because it is silent', async () => {
	const { socket, fake } = await openSocket();
	vi.useFakeTimers();
	const { frames } = startReading(socket);
	await vi.advanceTimersByTimeAsync(1_000);
	confirmSubscription(fake);
	await vi.advanceTimersByTimeAsync(10_000);
	fake.receive(item(3));
	await vi.advanceTimersByTimeAsync(1);
	vi.useRealTimers();

	expect(frames.map(({ seq }) => seq)).toEqual([null, 3]);
	socket.close();
});

test('an invalid token is refused with the same error as over HTTP, and nothing else ends', async () => {
	const { socket, fake } = await openSocket();
	const { ended } = startReading(socket);
	await expect.poll(() => fake.commands('subscribe')).toHaveLength(1);
	const error = { code: 'token_invalid', message: 'Not for you.', retryable: false };
	fake.receive({ type: 'nack', id: fake.commands('subscribe')[0]?.id, error });

	expect(await ended).toMatchObject({ status: 401, code: 'token_invalid' });
	expect(socket.isOpen).toBe(true);
	socket.close();
});

test('a connection that sends invalid JSON is opened again', async () => {
	const { socket, fakes, fake } = await openSocket();
	fake.receiveText('<html>');

	await expect.poll(() => fakes).toHaveLength(2);
	socket.close();
});

test.each([
	['https:', 'chat.example', 'wss://chat.example/ws?ticket=1'],
	['http:', '127.0.0.1:8765', 'ws://127.0.0.1:8765/ws?ticket=1']
])('a page at %s//%s opens its socket there', (protocol, host, address) => {
	expect(toPageOrigin({ protocol, host }, 'ws://upstream:8765/ws?ticket=1')).toBe(address);
});
