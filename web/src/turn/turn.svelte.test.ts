// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/client';
import type { Topics } from '$/api/socket';
import { Dropped, readFrames } from '$/api/stream';
import type { SendBody } from '$/api/wire';
import { Decoder, type Delta } from '$/turn/delta';
import { expected, names, sse } from '$/turn/recorded';
import { Turn } from '$/turn/turn.svelte';
import type { Door } from '$/turn/ways';

const BODY: SendBody = {
	action: 'next',
	messages: [],
	parent_message_id: 'client-created-root',
	model: 'auto',
	supported_encodings: ['v1']
};
const TURN_ID = 't1';
const atOnce = () => new Promise<void>((done) => setTimeout(done, 1));

/** The frames of a recorded turn. The last frame of an event has its number. */
function frames(name: string): { text: string; seq: number | null }[] {
	return sse(name)
		.split(/(?<=\n\n)/)
		.map((text) => ({ text, seq: Number(/^id: (\d+)$/m.exec(text)?.[1] ?? NaN) || null }));
}

/** A server that plays a recorded turn, and drops the connection after so many frames. */
class Player implements Door {
	readonly asked: number[] = [];
	readonly tokens: (string | null)[] = [];
	readonly stopped: string[] = [];
	topics: Door['topics'] = null;
	#frames: ReturnType<typeof frames>;
	#cuts: number[];

	constructor(name: string, ...cuts: number[]) {
		this.#frames = frames(name);
		this.#cuts = cuts;
	}

	send: Door['send'] = () => this.#play(0);
	follow: Door['follow'] = (_turnId, after) => {
		this.tokens.push(null);
		return this.#play(after);
	};
	resume: Door['resume'] = ({ offset }, token) => {
		this.tokens.push(token);
		return this.#play(offset);
	};
	stop: Door['stop'] = (_conversationId, turnId) => {
		this.stopped.push(turnId);
		return Promise.resolve();
	};

	/** The page's socket, as if it led to the same server. */
	get socket(): Topics {
		const play = (offset: number) => this.#play(offset);
		return {
			isOpen: true,
			async *follow({ offset }) {
				const { body } = await play(offset);
				if (body !== null) yield* readFrames(body);
			}
		};
	}

	/** Everything up to so many frames, in one. */
	snapshotAt(start: number): string {
		const decoder = new Decoder();
		for (const delta of this.#deltas(start)) decoder.take(delta);
		const seq = this.#frames.slice(0, start).findLast((frame) => frame.seq !== null)?.seq;
		const channels = Object.fromEntries(decoder.trees);
		return `data: ${JSON.stringify({ type: 'stream_snapshot', seq, channels, carry: decoder.carry })}\n\n`;
	}

	from(start: number): string {
		return this.#frames
			.slice(start)
			.map(({ text }) => text)
			.join('');
	}

	#play(after: number): Promise<Response> {
		this.asked.push(after);
		const start = this.#frames.findIndex(({ seq }) => seq === after) + 1;
		const resumed = { type: 'stream_resumed', carry: this.#carryAt(start) };
		const pieces = this.#frames.slice(start, this.#cuts.shift()).map(({ text }) => text);
		if (after > 0) pieces.unshift(`data: ${JSON.stringify(resumed)}\n\n`);
		return Promise.resolve(streamed(pieces.join('')));
	}

	#carryAt(start: number): object {
		const carry = Object.assign({ c: null, p: null, o: null }, ...this.#deltas(start)) as Delta;
		return { ...carry, v: undefined };
	}

	#deltas(start: number): Delta[] {
		return this.#frames
			.slice(0, start)
			.filter(({ text }) => text.includes('event: delta\n'))
			.map(({ text }) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}') as Delta);
	}
}

const streamed = (text: string) =>
	new Response(text, { headers: { 'x-turn-exchange-id': TURN_ID } });

/** A door that is the player's but for this. */
const but = (player: Player, change: Partial<Door>): Door => Object.assign(player, change);

test.each(names)('the recorded turn %s is read to its exact end', async (name) => {
	const turn = new Turn(new Player(name), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(turn.messages).toEqual(expected(name).messages);
	expect(turn.isRunning).toBe(false);
});

test('a turn whose line is cut anywhere reads as if it had not been', async () => {
	const complete = frames('title').findIndex(({ text }) => text.includes('stream_complete'));
	for (let cut = 1; cut <= complete; cut++) {
		const player = new Player('title', cut);
		const turn = new Turn(player, { body: BODY }, atOnce);

		expect(await turn.run()).toBe('whole');
		expect(turn.messages).toEqual(expected('title').messages);
		expect(player.asked).toHaveLength(2);
	}
});

test('coming back to a running turn asks for it from the start', async () => {
	const player = new Player('hello');
	const turn = new Turn(player, { turnId: TURN_ID, conversationId: 'c1' }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(player.asked).toEqual([0]);
});

test('a line that drops is followed again from the last event that was read', async () => {
	const player = new Player('hello', 8, 0);
	const turn = new Turn(player, { body: BODY }, atOnce);
	await turn.run();

	const last = frames('hello')
		.slice(0, 8)
		.findLast(({ seq }) => seq !== null)?.seq;
	expect(player.asked).toEqual([0, last, last]);
});

test('text that is not what the server stored differs', async () => {
	const player = new Player('hello');
	const wrong = sse('hello').replace('"Hel"', '"Hal"');
	const send = () =>
		Promise.resolve(new Response(wrong, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('differs');
});

test('a delta that cannot be applied starts the reading over', async () => {
	const player = new Player('hello');
	const wrong = sse('hello').replace('"append"', '"frobnicate"');
	const send = () =>
		Promise.resolve(new Response(wrong, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(player.asked).toEqual([0]);
	expect(turn.messages).toEqual(expected('hello').messages);
});

test('a failure is told, and what was said is kept', async () => {
	const turn = new Turn(new Player('failed'), { body: BODY }, atOnce);
	await turn.run();

	expect(turn.failure).toMatchObject({ message: expected('failed').transcript.failure?.message });
	expect(turn.answer?.status).toBe('failed');
	expect(turn.answer?.content.parts[0]).not.toBe('');
});

test.each([new ApiError('No.', 503, 'engine_down'), new Unreachable()])(
	'a message the server did not take is unsent: %s',
	async (error) => {
		const door = but(new Player('hello'), { send: () => Promise.reject(error) });
		const turn = new Turn(door, { body: BODY }, atOnce);

		expect(await turn.run()).toBe('unsent');
		expect(turn.failure?.message).toBe(error.message);
	}
);

test('a turn the server no longer knows is doubtful', async () => {
	const gone = () => Promise.reject(new ApiError('There is no such turn.', 404, 'not_found'));
	const door = but(new Player('hello'), { follow: gone });
	const turn = new Turn(door, { turnId: TURN_ID, conversationId: 'c1' }, atOnce);

	expect(await turn.run()).toBe('doubtful');
});

test('stopping before the server has named the turn waits for the name', async () => {
	const player = new Player('stopped');
	const turn = new Turn(player, { body: BODY }, atOnce);
	turn.stop();
	expect(player.stopped).toEqual([]);
	await turn.run();

	expect(player.stopped).toEqual([TURN_ID]);
});

test('leaving ends the reading and nothing else', async () => {
	const player = new Player('hello', 3);
	const turn = new Turn(player, { body: BODY }, () => {
		turn.leave();
		return Promise.resolve();
	});
	const gone = () => Promise.reject(new DOMException('', 'AbortError'));
	but(player, { follow: gone, resume: gone });

	expect(await turn.run()).toBe('left');
	expect(player.stopped).toEqual([]);
});

test('why an answer waits is known as the server said it last', async () => {
	const wait = (num_ahead: number) =>
		`data: ${JSON.stringify({ type: 'answer_delayed', reason: 'queue', num_ahead })}\n\n`;
	const delayed = `${wait(2)}${wait(1)}${sse('hello')}`;
	const send = () =>
		Promise.resolve(new Response(delayed, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn(but(new Player('hello'), { send }), { body: BODY }, atOnce);
	await turn.run();

	expect(turn.delay).toEqual({ reason: 'queue', numAhead: 1 });
});

test('a turn that is stopped and never named is not waited for', async () => {
	vi.useFakeTimers();
	const send = (_body: SendBody, signal: AbortSignal) =>
		new Promise<Response>((_, reject) =>
			signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
		);
	const turn = new Turn(but(new Player('hello'), { send }), { body: BODY }, atOnce);
	const outcome = turn.run();
	turn.stop();
	await vi.runAllTimersAsync();
	vi.useRealTimers();

	expect(await outcome).toBe('unsent');
	expect(turn.failure).toBeNull();
	expect(turn.isRunning).toBe(false);
});

test('a stream that always reads wrong is not read for ever', async () => {
	let numReadings = 0;
	const wrong = () => {
		numReadings += 1;
		const text = sse('hello').replace('"append"', '"frobnicate"');
		return Promise.resolve(new Response(text, { headers: { 'x-turn-exchange-id': 't' } }));
	};
	const door = but(new Player('hello'), { send: wrong, follow: wrong });
	const turn = new Turn(door, { body: BODY }, atOnce);

	expect(await turn.run()).toBe('doubtful');
	expect(numReadings).toBe(3);
});

test('a turn that is stopped while the server cannot be told ends here', async () => {
	const lost = () => Promise.reject(new Unreachable());
	const door = but(new Player('hello'), { follow: lost, stop: lost });
	const turn = new Turn(door, { turnId: TURN_ID, conversationId: 'c1' }, async (tries) => {
		if (tries === 1) turn.stop();
		await new Promise((done) => setTimeout(done, 1));
	});

	expect(await turn.run()).toBe('cut');
	expect(turn.isCut).toBe(true);
	expect(turn.isRunning).toBe(false);
});

test('a message that is being posted arrives although nobody looks any more', async () => {
	const answer = later();
	const signals: AbortSignal[] = [];
	const send = (_body: SendBody, signal: AbortSignal) => {
		signals.push(signal);
		return answer.response;
	};
	const turn = new Turn(but(new Player('hello'), { send }), { body: BODY }, atOnce);
	const outcome = turn.run();
	turn.leave();
	expect(signals[0]?.aborted).toBe(false);
	answer.come(streamed(sse('hello').slice(0, 400)));

	expect(await turn.taken).toBe(true);
	expect(await outcome).toBe('left');
});

/** A response that comes when the test says so. */
function later() {
	let come: (response: Response) => void = () => undefined;
	const response = new Promise<Response>((resolve) => (come = resolve));
	return { response, come };
}

test('whoever was given a token comes back with the newest one', async () => {
	const token = (name: string) =>
		`data: ${JSON.stringify({ type: 'resume_conversation_token', token: name, conversation_id: 'c1' })}\n\n`;
	const player = new Player('title', 0);
	const first = new Player('title', 6);
	const send = async () =>
		streamed(
			token('old') +
				token('new') +
				(await (await first.send(BODY, new AbortController().signal)).text())
		);
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(player.tokens).toEqual(['new', 'new']);
	expect(turn.messages).toEqual(expected('title').messages);
});

test('a token that no longer holds is not used again', async () => {
	const expired = () => Promise.reject(new ApiError('Too old.', 401, 'token_expired'));
	const player = new Player('title', 8);
	const turn = new Turn(but(player, { resume: expired }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(player.tokens).toEqual([null]);
});

test('a turn that is no longer streamed is read from what is stored', async () => {
	const gone = () => Promise.reject(new ApiError('Over.', 410, 'persisted_final_available'));
	const door = but(new Player('hello'), { follow: gone });
	const turn = new Turn(door, { turnId: TURN_ID, conversationId: 'c1' }, atOnce);

	expect(await turn.run()).toBe('stored');
});

test('a turn whose line is cut goes on over the socket, if one is open', async () => {
	for (let cut = 1; cut < frames('title').length - 2; cut++) {
		const player = new Player('title', cut, cut + 2);
		player.topics = player.socket;
		const turn = new Turn(player, { body: BODY }, atOnce);

		expect(await turn.run()).toBe('whole');
		expect(turn.messages).toEqual(expected('title').messages);
	}
});

test('a socket that says nothing is not asked twice', async () => {
	const player = new Player('hello', 5);
	let numAsked = 0;
	player.topics = {
		isOpen: true,
		async *follow() {
			numAsked += 1;
			throw new Dropped('Closed.');
		}
	};
	const turn = new Turn(player, { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(numAsked).toBe(1);
});

test('a snapshot takes the place of whatever was read', async () => {
	for (let at = 4; at < frames('title').length - 6; at++) {
		const player = new Player('title', 3);
		const snapshot = () => Promise.resolve(streamed(player.snapshotAt(at) + player.from(at)));
		const door = but(player, { resume: snapshot, follow: snapshot });
		const turn = new Turn(door, { body: BODY }, atOnce);

		expect(await turn.run()).toBe('whole');
		expect(turn.messages).toEqual(expected('title').messages);
	}
});

test('an answer is over when it is complete, and a title may come after it', async () => {
	const [beginning = '', end = ''] = sse('hello').split(/(?=data: \[DONE\])/);
	let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
	const body = new ReadableStream<Uint8Array>({
		start: (begun) => {
			controller = begun;
			begun.enqueue(new TextEncoder().encode(beginning));
		}
	});
	const send = () =>
		Promise.resolve(new Response(body, { headers: { 'x-turn-exchange-id': TURN_ID } }));
	const turn = new Turn(but(new Player('hello'), { send }), { body: BODY }, atOnce);
	expect(await turn.run()).toBe('whole');
	expect(turn.isRunning).toBe(false);
	const title = { type: 'title_generation', title: 'Greetings', revision: 2 };
	controller?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(title)}\n\n${end}`));

	await expect.poll(() => turn.title).toBe('Greetings');
});

/** A Send whose stream says this, and is then held until it is let go. */
function holding(text: string): { send: Door['send']; isHeld: () => boolean } {
	let held: AbortSignal | undefined;
	const send: Door['send'] = (_, signal) => {
		held = signal;
		const body = new ReadableStream<Uint8Array>({
			start: (stream) => {
				stream.enqueue(new TextEncoder().encode(text));
				signal.addEventListener('abort', () => stream.error(signal.reason));
			}
		});
		return Promise.resolve(new Response(body, { headers: { 'x-turn-exchange-id': TURN_ID } }));
	};
	return { send, isHeld: () => held?.aborted === false };
}

test('a stream that is held for a title alone is let go where the socket tells of titles', async () => {
	const { send, isHeld } = holding(sse('hello').split(/(?=data: \[DONE\])/)[0] ?? '');
	const player = new Player('hello');
	const turn = new Turn(but(player, { send, topics: player.socket }), { body: BODY }, atOnce);
	expect(await turn.run()).toBe('whole');

	await expect.poll(isHeld, { timeout: 3_000 }).toBe(false);
	expect(turn.messages).toEqual(expected('hello').messages);
	expect(turn.failure).toBeNull();
	expect(turn.isReconnecting).toBe(false);
	expect(player.asked).toEqual([]);
	expect(player.stopped).toEqual([]);
});

test.each(['before its first word', 'in the middle'])(
	'an answer that nobody looks at any more, %s, goes on over the socket',
	async (when) => {
		const isAtOnce = when === 'before its first word';
		const hide = () => vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
		const { send, isHeld } = holding(isAtOnce ? '' : (sse('title').split('"append"')[0] ?? ''));
		const player = new Player('title');
		const turn = new Turn(but(player, { send, topics: player.socket }), { body: BODY }, atOnce);
		if (isAtOnce) hide();
		const outcome = turn.run();
		if (!isAtOnce) await expect.poll(() => turn.answer).not.toBeNull();
		hide();
		document.dispatchEvent(new Event('visibilitychange'));

		expect(await outcome).toBe('whole');
		expect(turn.messages).toEqual(expected('title').messages);
		expect(isHeld()).toBe(false);
		expect(player.stopped).toEqual([]);
		vi.restoreAllMocks();
	}
);

test('an answer that came back over HTTP goes on over the socket once nobody looks', async () => {
	const { send: hold, isHeld } = holding(sse('title').split('"append"')[0] ?? '');
	const player = new Player('title');
	const follow: Door['follow'] = (_turnId, _after, signal) => hold(BODY, signal, null);
	const start = { turnId: TURN_ID, conversationId: 'c1' };
	const turn = new Turn(but(player, { follow }), start, atOnce);
	const outcome = turn.run();
	await expect.poll(() => turn.answer).not.toBeNull();
	player.topics = player.socket;
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
	document.dispatchEvent(new Event('visibilitychange'));

	expect(await outcome).toBe('whole');
	expect(turn.messages).toEqual(expected('title').messages);
	expect(isHeld()).toBe(false);
	vi.restoreAllMocks();
});

test.each(['a delta that cannot be applied', 'the end'])(
	'after %s, nothing stays open that nobody reads',
	async (what) => {
		const isOver = what === 'the end';
		const text = isOver ? 'data: [DONE]\n\n' : 'event: delta\ndata: {"p":"/x","o":"append"}\n\n';
		const cancel = vi.fn();
		const body = new ReadableStream<Uint8Array>({
			start: (stream) => stream.enqueue(new TextEncoder().encode(text)),
			cancel
		});
		const send = () =>
			Promise.resolve(new Response(body, { headers: { 'x-turn-exchange-id': TURN_ID } }));
		const turn = new Turn(but(new Player('hello'), { send }), { body: BODY }, atOnce);

		expect(await turn.run()).toBe(isOver ? 'doubtful' : 'whole');
		expect(cancel).toHaveBeenCalledOnce();
	}
);

test('in another network it is read from where it was', async () => {
	const { send, isHeld } = holding(sse('title').split('"append"')[0] ?? '');
	const player = new Player('title');
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);
	const outcome = turn.run();
	await expect.poll(() => turn.answer).not.toBeNull();
	dispatchEvent(new Event('online'));

	expect(await outcome).toBe('whole');
	expect(turn.messages).toEqual(expected('title').messages);
	expect(isHeld()).toBe(false);
});

test('another network, found while it is coming back, is one more reason to come back', async () => {
	const player = new Player('title', 3);
	const play = player.follow;
	const follow: Door['follow'] = (turnId, after, signal) => {
		if (player.asked.length > 0) return play(turnId, after, signal);
		player.asked.push(after);
		return new Promise((_, refuse) => {
			signal.addEventListener('abort', () => refuse(new DOMException('left', 'AbortError')));
		});
	};
	const start = { turnId: TURN_ID, conversationId: 'c1' };
	const turn = new Turn(but(player, { follow }), start, atOnce);
	const outcome = turn.run();
	await expect.poll(() => player.asked).toHaveLength(1);
	dispatchEvent(new Event('online'));

	expect(await outcome).toBe('whole');
	expect(turn.messages).toEqual(expected('title').messages);
});

test('without a socket, nobody looking changes nothing', async () => {
	const { send, isHeld } = holding('');
	const turn = new Turn(but(new Player('hello'), { send }), { body: BODY }, atOnce);
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
	const outcome = turn.run();
	await turn.taken;
	document.dispatchEvent(new Event('visibilitychange'));
	expect(isHeld()).toBe(true);
	turn.leave();

	expect(await outcome).toBe('left');
	vi.restoreAllMocks();
});

test('a message that may not have arrived is sent again, and in the server’s own time', async () => {
	const waits: (number | null | undefined)[] = [];
	const keys: (string | null | undefined)[] = [];
	const player = new Player('hello');
	const refusals = [new Unreachable(), new ApiError('Wait.', 429, 'rate_limit_exceeded', null, 12)];
	const play = player.send;
	const send: Door['send'] = (body, signal, key) => {
		keys.push(key);
		const refusal = refusals.shift();
		return refusal === undefined ? play(body, signal) : Promise.reject(refusal);
	};
	const turn = new Turn(but(player, { send }), { body: BODY, key: 'press' }, (_, __, asked) => {
		waits.push(asked);
		return atOnce();
	});

	expect(await turn.run()).toBe('whole');
	expect(waits).toEqual([null, 12]);
	expect(keys).toEqual(['press', 'press', 'press']);
});

test('what waiting does not mend comes back at once', async () => {
	let numSent = 0;
	const spent = () => {
		numSent += 1;
		return Promise.reject(new ApiError('Tomorrow.', 429, 'quota_exceeded', null, 1_000));
	};
	const turn = new Turn(but(new Player('hello'), { send: spent }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('unsent');
	expect(numSent).toBe(1);
});

test('a message that waits to be sent again can be stopped', async () => {
	const busy = () => Promise.reject(new ApiError('Busy.', 503, 'server_overloaded', null, 5_000));
	const turn = new Turn(
		but(new Player('hello'), { send: busy }),
		{ body: BODY },
		(_, signal) => new Promise((done) => signal.addEventListener('abort', () => done()))
	);
	const outcome = turn.run();
	await expect.poll(() => turn.retry?.reason).toBe('busy');
	turn.stop();

	expect(await outcome).toBe('unsent');
	expect(turn.failure).toBeNull();
});

test('a title that was there before is not told again to whoever comes later', async () => {
	const once = sse('title').replace(/^data: .*"revision":2.*$/m, ': nothing');
	const play = () => Promise.resolve(streamed(once));
	const door = but(new Player('title'), { send: play, follow: play });
	const sent = new Turn(door, { body: BODY }, atOnce);
	const followed = new Turn(door, { turnId: TURN_ID, conversationId: 'c1' }, atOnce);
	await Promise.all([sent.run(), followed.run()]);

	expect(sent.title).toBe('How do I boil an egg?');
	expect(followed.title).toBeNull();
});

test('whatever goes wrong in reading, it is read again', async () => {
	const player = new Player('hello');
	const odd = sse('hello').replace(/^data: \{"type":"message_stream_complete".*$/m, 'data: null');
	const send = () => Promise.resolve(streamed(odd));
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(turn.messages).toEqual(expected('hello').messages);
});

test('an answer that names no turn is not the server’s', async () => {
	const player = new Player('hello');
	const play = player.send;
	let numSent = 0;
	const send: Door['send'] = (body, signal) =>
		++numSent === 1 ? Promise.resolve(new Response('<html>')) : play(body, signal);
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(numSent).toBe(2);
});

test('whoever comes back does so in the server’s own time', async () => {
	const waits: (number | null | undefined)[] = [];
	const player = new Player('hello');
	const play = player.follow;
	const refusals = [new ApiError('Wait.', 503, 'server_overloaded', null, 4_000)];
	const follow: Door['follow'] = (turnId, after, signal) => {
		const refusal = refusals.shift();
		return refusal === undefined ? play(turnId, after, signal) : Promise.reject(refusal);
	};
	const start = { turnId: TURN_ID, conversationId: 'c1' };
	const turn = new Turn(but(player, { follow }), start, (_, __, asked) => {
		waits.push(asked);
		return atOnce();
	});

	expect(await turn.run()).toBe('whole');
	expect(waits).toEqual([4_000]);
});

test('a token that the socket does not take is not brought again', async () => {
	const token = { type: 'resume_conversation_token', token: 'old', conversation_id: 'c1' };
	const player = new Player('title', 8);
	const first = new Player('title', 8);
	const tokens: (string | null)[] = [];
	player.topics = {
		isOpen: true,
		async *follow({ token }) {
			tokens.push(token);
			throw new ApiError('Not for you.', 401, 'token_invalid');
		}
	};
	const send: Door['send'] = async (body, signal) =>
		streamed(`data: ${JSON.stringify(token)}\n\n${await (await first.send(body, signal)).text()}`);
	const turn = new Turn(but(player, { send }), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(tokens).toEqual(['old']);
	expect(player.tokens[0]).toBeNull();
	expect(turn.messages).toEqual(expected('title').messages);
});
