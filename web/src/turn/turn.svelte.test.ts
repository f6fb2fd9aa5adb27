// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/http';
import type { TurnSocket } from '$/api/socket';
import { Dropped, readFrames } from '$/api/stream';
import type { SendBody } from '$/api/wire';
import { DeltaDecoder, type Delta } from '$/turn/delta';
import { readExpected, names, readStream } from '$/turn/recordedTurns';
import { Turn } from '$/turn/turn.svelte';
import type { TurnApi } from '$/turn/transports';

const BODY: SendBody = {
	action: 'next',
	messages: [],
	parent_message_id: 'client-created-root',
	model: 'auto',
	supported_encodings: ['v1']
};
const TURN_ID = 't1';
const noBackoff = () => new Promise<void>((done) => setTimeout(done, 1));

/** The frames of a recorded turn. The last frame of each event carries its number. */
function readFramesOf(name: string): { text: string; seq: number | null }[] {
	return readStream(name)
		.split(/(?<=\n\n)/)
		.map((text) => ({ text, seq: Number(/^id:(\d+)$/m.exec(text)?.[1] ?? NaN) || null }));
}

/** A server that plays a recorded turn, and drops each connection after that many frames. */
class Player implements TurnApi {
	readonly offsets: number[] = [];
	readonly tokens: (string | null)[] = [];
	readonly stopped: string[] = [];
	socket: TurnApi['socket'] = null;
	#frames: ReturnType<typeof readFramesOf>;
	#cuts: number[];

	constructor(name: string, ...cuts: number[]) {
		this.#frames = readFramesOf(name);
		this.#cuts = cuts;
	}

	send: TurnApi['send'] = () => this.#play(0);
	follow: TurnApi['follow'] = (_turnId, after) => {
		this.tokens.push(null);
		return this.#play(after);
	};
	resume: TurnApi['resume'] = ({ offset }, token) => {
		this.tokens.push(token);
		return this.#play(offset);
	};
	stop: TurnApi['stop'] = (_conversationId, turnId) => {
		this.stopped.push(turnId);
		return Promise.resolve();
	};

	/** An open socket to the same server. */
	get openSocket(): TurnSocket {
		const play = (offset: number) => this.#play(offset);
		return {
			isOpen: true,
			async *follow({ offset }) {
				const { body } = await play(offset);
				if (body !== null) yield* readFrames(body);
			}
		};
	}

	/** A snapshot of the first frames. */
	snapshotAt(start: number): string {
		const decoder = new DeltaDecoder();
		for (const delta of this.#deltas(start)) decoder.apply(delta);
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
		this.offsets.push(after);
		const start = this.#frames.findIndex(({ seq }) => seq === after) + 1;
		const resumed = { type: 'stream_resumed', carry: this.#carryAt(start) };
		const pieces = this.#frames.slice(start, this.#cuts.shift()).map(({ text }) => text);
		if (after > 0) pieces.unshift(`data: ${JSON.stringify(resumed)}\n\n`);
		return Promise.resolve(streamResponse(pieces.join('')));
	}

	#carryAt(start: number): object {
		const carry = Object.assign({ c: null, p: null, o: null }, ...this.#deltas(start)) as Delta;
		return { ...carry, v: undefined };
	}

	#deltas(start: number): Delta[] {
		return this.#frames
			.slice(0, start)
			.filter(({ text }) => text.includes('event:delta\n'))
			.map(({ text }) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}') as Delta);
	}
}

const streamResponse = (text: string) =>
	new Response(text, { headers: { 'x-turn-exchange-id': TURN_ID } });

const override = (player: Player, change: Partial<TurnApi>): TurnApi =>
	Object.assign(player, change);

test.each(names)('the recorded turn %s is read to its exact end', async (name) => {
	const turn = new Turn(new Player(name), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(turn.messages).toEqual(readExpected(name).messages);
	expect(turn.isRunning).toBe(false);
});

test('a turn whose connection is cut anywhere is read in full', async () => {
	const complete = readFramesOf('title').findIndex(({ text }) => text.includes('stream_complete'));
	for (let cut = 1; cut <= complete; cut++) {
		const player = new Player('title', cut);
		const turn = new Turn(player, { body: BODY }, noBackoff);

		expect(await turn.run()).toBe('complete');
		expect(turn.messages).toEqual(readExpected('title').messages);
		expect(player.offsets).toHaveLength(2);
	}
});

test('resuming a running turn reads it from the start', async () => {
	const player = new Player('hello');
	const turn = new Turn(player, { turnId: TURN_ID, conversationId: 'c1' }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(player.offsets).toEqual([0]);
});

test('a dropped stream is resumed after the last event', async () => {
	const player = new Player('hello', 8, 0);
	const turn = new Turn(player, { body: BODY }, noBackoff);
	await turn.run();

	const last = readFramesOf('hello')
		.slice(0, 8)
		.findLast(({ seq }) => seq !== null)?.seq;
	expect(player.offsets).toEqual([0, last, last]);
});

test('text that does not match the checksum is a mismatch', async () => {
	const player = new Player('hello');
	const wrong = readStream('hello').replace('"Hel"', '"Hal"');
	const send = () =>
		Promise.resolve(new Response(wrong, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('mismatch');
});

test('a delta that cannot be applied restarts the reading', async () => {
	const player = new Player('hello');
	const wrong = readStream('hello').replace('"append"', '"frobnicate"');
	const send = () =>
		Promise.resolve(new Response(wrong, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(player.offsets).toEqual([0]);
	expect(turn.messages).toEqual(readExpected('hello').messages);
});

test('a failed turn has its failure, and keeps its text', async () => {
	const turn = new Turn(new Player('failed'), { body: BODY }, noBackoff);
	await turn.run();

	expect(turn.failure).toMatchObject({
		message: readExpected('failed').transcript.failure?.message,
		requestId: null
	});
	expect(turn.answer?.status).toBe('failed');
	expect(turn.answer?.content.parts[0]).not.toBe('');
});

test.each([new ApiError('No.', 503, 'engine_down'), new Unreachable()])(
	'a message that the server did not accept is unsent: %s',
	async (error) => {
		const api = override(new Player('hello'), { send: () => Promise.reject(error) });
		const turn = new Turn(api, { body: BODY }, noBackoff);

		expect(await turn.run()).toBe('unsent');
		expect(turn.failure?.message).toBe(error.message);
	}
);

test('a turn that the server no longer knows is uncertain', async () => {
	const refuse = () => Promise.reject(new ApiError('There is no such turn.', 404, 'not_found'));
	const api = override(new Player('hello'), { follow: refuse });
	const turn = new Turn(api, { turnId: TURN_ID, conversationId: 'c1' }, noBackoff);

	expect(await turn.run()).toBe('uncertain');
});

test('a stop before the turn has an id is sent when it has one', async () => {
	const player = new Player('stopped');
	const turn = new Turn(player, { body: BODY }, noBackoff);
	turn.stop();
	expect(player.stopped).toEqual([]);
	await turn.run();

	expect(player.stopped).toEqual([TURN_ID]);
});

test('detaching ends the reading and does not stop the turn', async () => {
	const player = new Player('hello', 3);
	const turn = new Turn(player, { body: BODY }, () => {
		turn.detach();
		return Promise.resolve();
	});
	const refuse = () => Promise.reject(new DOMException('', 'AbortError'));
	override(player, { follow: refuse, resume: refuse });

	expect(await turn.run()).toBe('detached');
	expect(player.stopped).toEqual([]);
});

test('the delay is the one that the server reported last', async () => {
	const wait = (num_ahead: number) =>
		`data: ${JSON.stringify({ type: 'answer_delayed', reason: 'queue', num_ahead })}\n\n`;
	const delayed = `${wait(2)}${wait(1)}${readStream('hello')}`;
	const send = () =>
		Promise.resolve(new Response(delayed, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn(override(new Player('hello'), { send }), { body: BODY }, noBackoff);
	await turn.run();

	expect(turn.delay).toEqual({ reason: 'queue', numAhead: 1 });
});

test('a stopped turn that never gets an id is aborted', async () => {
	vi.useFakeTimers();
	const send = (_body: SendBody, signal: AbortSignal) =>
		new Promise<Response>((_, reject) =>
			signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
		);
	const turn = new Turn(override(new Player('hello'), { send }), { body: BODY }, noBackoff);
	const outcome = turn.run();
	turn.stop();
	await vi.runAllTimersAsync();
	vi.useRealTimers();

	expect(await outcome).toBe('unsent');
	expect(turn.failure).toBeNull();
	expect(turn.isRunning).toBe(false);
});

test('a stream with bad deltas is given up after three readings', async () => {
	let numReadings = 0;
	const wrong = () => {
		numReadings += 1;
		const text = readStream('hello').replace('"append"', '"frobnicate"');
		return Promise.resolve(new Response(text, { headers: { 'x-turn-exchange-id': 't' } }));
	};
	const api = override(new Player('hello'), { send: wrong, follow: wrong });
	const turn = new Turn(api, { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('uncertain');
	expect(numReadings).toBe(3);
});

test('a stop that cannot reach the server ends the turn locally', async () => {
	const unreachable = () => Promise.reject(new Unreachable());
	const api = override(new Player('hello'), { follow: unreachable, stop: unreachable });
	const turn = new Turn(api, { turnId: TURN_ID, conversationId: 'c1' }, async (tries) => {
		if (tries === 1) turn.stop();
		await new Promise((done) => setTimeout(done, 1));
	});

	expect(await turn.run()).toBe('stopped_locally');
	expect(turn.isStoppedLocally).toBe(true);
	expect(turn.isRunning).toBe(false);
});

test('detaching lets a Send on its way arrive', async () => {
	const answer = deferredResponse();
	const signals: AbortSignal[] = [];
	const send = (_body: SendBody, signal: AbortSignal) => {
		signals.push(signal);
		return answer.response;
	};
	const turn = new Turn(override(new Player('hello'), { send }), { body: BODY }, noBackoff);
	const outcome = turn.run();
	turn.detach();
	expect(signals[0]?.aborted).toBe(false);
	answer.resolve(streamResponse(readStream('hello').slice(0, 400)));

	expect(await turn.accepted).toBe(true);
	expect(await outcome).toBe('detached');
});

/** A response that the test resolves. */
function deferredResponse() {
	let resolve: (response: Response) => void = () => undefined;
	const response = new Promise<Response>((done) => (resolve = done));
	return { response, resolve };
}

test('a turn is resumed with its newest token', async () => {
	const token = (name: string) =>
		`data: ${JSON.stringify({ type: 'resume_conversation_token', token: name, conversation_id: 'c1' })}\n\n`;
	const player = new Player('title', 0);
	const first = new Player('title', 6);
	const send = async () =>
		streamResponse(
			token('old') +
				token('new') +
				(await (await first.send(BODY, new AbortController().signal)).text())
		);
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(player.tokens).toEqual(['new', 'new']);
	expect(turn.messages).toEqual(readExpected('title').messages);
});

test('an expired token is not used again', async () => {
	const expired = () => Promise.reject(new ApiError('Too old.', 401, 'token_expired'));
	const player = new Player('title', 8);
	const turn = new Turn(override(player, { resume: expired }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(player.tokens).toEqual([null]);
});

test('a turn whose stream is gone is stored', async () => {
	const refuse = () => Promise.reject(new ApiError('Over.', 410, 'persisted_final_available'));
	const api = override(new Player('hello'), { follow: refuse });
	const turn = new Turn(api, { turnId: TURN_ID, conversationId: 'c1' }, noBackoff);

	expect(await turn.run()).toBe('stored');
});

test('a cut turn is resumed over an open socket', async () => {
	for (let cut = 1; cut < readFramesOf('title').length - 2; cut++) {
		const player = new Player('title', cut, cut + 2);
		player.socket = player.openSocket;
		const turn = new Turn(player, { body: BODY }, noBackoff);

		expect(await turn.run()).toBe('complete');
		expect(turn.messages).toEqual(readExpected('title').messages);
	}
});

test('a silent socket is not tried twice', async () => {
	const player = new Player('hello', 5);
	let numTries = 0;
	player.socket = {
		isOpen: true,
		async *follow() {
			numTries += 1;
			throw new Dropped('Closed.');
		}
	};
	const turn = new Turn(player, { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(numTries).toBe(1);
});

test('a snapshot replaces everything read before', async () => {
	for (let at = 4; at < readFramesOf('title').length - 6; at++) {
		const player = new Player('title', 3);
		const snapshot = () => Promise.resolve(streamResponse(player.snapshotAt(at) + player.from(at)));
		const api = override(player, { resume: snapshot, follow: snapshot });
		const turn = new Turn(api, { body: BODY }, noBackoff);

		expect(await turn.run()).toBe('complete');
		expect(turn.messages).toEqual(readExpected('title').messages);
	}
});

test('a turn ends when its answer is complete, and a title may follow', async () => {
	const [beginning = '', end = ''] = readStream('hello').split(/(?=data: \[DONE\])/);
	let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
	const body = new ReadableStream<Uint8Array>({
		start: (stream) => {
			controller = stream;
			stream.enqueue(new TextEncoder().encode(beginning));
		}
	});
	const send = () =>
		Promise.resolve(new Response(body, { headers: { 'x-turn-exchange-id': TURN_ID } }));
	const turn = new Turn(override(new Player('hello'), { send }), { body: BODY }, noBackoff);
	expect(await turn.run()).toBe('complete');
	expect(turn.isRunning).toBe(false);
	const title = { type: 'title_generation', title: 'Greetings', revision: 2 };
	controller?.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(title)}\n\n${end}`));

	await expect.poll(() => turn.title).toBe('Greetings');
});

/** A Send whose stream sends this text and then stays open until it is aborted. */
function openStream(text: string): { send: TurnApi['send']; isOpen: () => boolean } {
	let held: AbortSignal | undefined;
	const send: TurnApi['send'] = (_, signal) => {
		held = signal;
		const body = new ReadableStream<Uint8Array>({
			start: (stream) => {
				stream.enqueue(new TextEncoder().encode(text));
				signal.addEventListener('abort', () => stream.error(signal.reason));
			}
		});
		return Promise.resolve(new Response(body, { headers: { 'x-turn-exchange-id': TURN_ID } }));
	};
	return { send, isOpen: () => held?.aborted === false };
}

test('a stream that is open only for a title is closed if the socket reports titles', async () => {
	const { send, isOpen } = openStream(readStream('hello').split(/(?=data: \[DONE\])/)[0] ?? '');
	const player = new Player('hello');
	const turn = new Turn(
		override(player, { send, socket: player.openSocket }),
		{ body: BODY },
		noBackoff
	);
	expect(await turn.run()).toBe('complete');

	await expect.poll(isOpen, { timeout: 3_000 }).toBe(false);
	expect(turn.messages).toEqual(readExpected('hello').messages);
	expect(turn.failure).toBeNull();
	expect(turn.isReconnecting).toBe(false);
	expect(player.offsets).toEqual([]);
	expect(player.stopped).toEqual([]);
});

test.each(['before its first word', 'in the middle'])(
	'in a hidden tab an answer continues over the socket (%s)',
	async (when) => {
		const isBeforeText = when === 'before its first word';
		const hide = () => vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
		const { send, isOpen } = openStream(
			isBeforeText ? '' : (readStream('title').split('"append"')[0] ?? '')
		);
		const player = new Player('title');
		const turn = new Turn(
			override(player, { send, socket: player.openSocket }),
			{ body: BODY },
			noBackoff
		);
		if (isBeforeText) hide();
		const outcome = turn.run();
		if (!isBeforeText) await expect.poll(() => turn.answer).not.toBeNull();
		hide();
		document.dispatchEvent(new Event('visibilitychange'));

		expect(await outcome).toBe('complete');
		expect(turn.messages).toEqual(readExpected('title').messages);
		expect(isOpen()).toBe(false);
		expect(player.stopped).toEqual([]);
		vi.restoreAllMocks();
	}
);

test('an answer resumed over HTTP continues over the socket once the tab is hidden', async () => {
	const { send: hold, isOpen } = openStream(readStream('title').split('"append"')[0] ?? '');
	const player = new Player('title');
	const follow: TurnApi['follow'] = (_turnId, _after, signal) => hold(BODY, signal, null);
	const start = { turnId: TURN_ID, conversationId: 'c1' };
	const turn = new Turn(override(player, { follow }), start, noBackoff);
	const outcome = turn.run();
	await expect.poll(() => turn.answer).not.toBeNull();
	player.socket = player.openSocket;
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
	document.dispatchEvent(new Event('visibilitychange'));

	expect(await outcome).toBe('complete');
	expect(turn.messages).toEqual(readExpected('title').messages);
	expect(isOpen()).toBe(false);
	vi.restoreAllMocks();
});

test.each(['a delta that cannot be applied', 'the end'])(
	'after %s no connection stays open',
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
		const turn = new Turn(override(new Player('hello'), { send }), { body: BODY }, noBackoff);

		expect(await turn.run()).toBe(isOver ? 'uncertain' : 'complete');
		expect(cancel).toHaveBeenCalledOnce();
	}
);

test('after a change of network the turn is resumed', async () => {
	const { send, isOpen } = openStream(readStream('title').split('"append"')[0] ?? '');
	const player = new Player('title');
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);
	const outcome = turn.run();
	await expect.poll(() => turn.answer).not.toBeNull();
	dispatchEvent(new Event('online'));

	expect(await outcome).toBe('complete');
	expect(turn.messages).toEqual(readExpected('title').messages);
	expect(isOpen()).toBe(false);
});

test('a change of network while resuming resumes again', async () => {
	const player = new Player('title', 3);
	const play = player.follow;
	const follow: TurnApi['follow'] = (turnId, after, signal) => {
		if (player.offsets.length > 0) return play(turnId, after, signal);
		player.offsets.push(after);
		return new Promise((_, refuse) => {
			signal.addEventListener('abort', () => refuse(new DOMException('detached', 'AbortError')));
		});
	};
	const start = { turnId: TURN_ID, conversationId: 'c1' };
	const turn = new Turn(override(player, { follow }), start, noBackoff);
	const outcome = turn.run();
	await expect.poll(() => player.offsets).toHaveLength(1);
	dispatchEvent(new Event('online'));

	expect(await outcome).toBe('complete');
	expect(turn.messages).toEqual(readExpected('title').messages);
});

test('without a socket a hidden tab keeps its HTTP stream', async () => {
	const { send, isOpen } = openStream('');
	const turn = new Turn(override(new Player('hello'), { send }), { body: BODY }, noBackoff);
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
	const outcome = turn.run();
	await turn.accepted;
	document.dispatchEvent(new Event('visibilitychange'));
	expect(isOpen()).toBe(true);
	turn.detach();

	expect(await outcome).toBe('detached');
	vi.restoreAllMocks();
});

test('a Send without an answer is sent again, after the server’s Retry-After', async () => {
	const waits: (number | null | undefined)[] = [];
	const keys: (string | null | undefined)[] = [];
	const player = new Player('hello');
	const refusals = [new Unreachable(), new ApiError('Wait.', 429, 'rate_limit_exceeded', null, 12)];
	const play = player.send;
	const send: TurnApi['send'] = (body, signal, key) => {
		keys.push(key);
		const refusal = refusals.shift();
		return refusal === undefined ? play(body, signal) : Promise.reject(refusal);
	};
	const turn = new Turn(
		override(player, { send }),
		{ body: BODY, key: 'press' },
		(_, __, waitMs) => {
			waits.push(waitMs);
			return noBackoff();
		}
	);

	expect(await turn.run()).toBe('complete');
	expect(waits).toEqual([null, 12]);
	expect(keys).toEqual(['press', 'press', 'press']);
});

test('a permanent refusal is not sent again', async () => {
	let numSent = 0;
	const spent = () => {
		numSent += 1;
		return Promise.reject(new ApiError('Tomorrow.', 429, 'quota_exceeded', null, 1_000));
	};
	const turn = new Turn(override(new Player('hello'), { send: spent }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('unsent');
	expect(numSent).toBe(1);
});

test('a Send that waits for its retry can be stopped', async () => {
	const busy = () => Promise.reject(new ApiError('Busy.', 503, 'server_overloaded', null, 5_000));
	const turn = new Turn(
		override(new Player('hello'), { send: busy }),
		{ body: BODY },
		(_, signal) => new Promise((done) => signal.addEventListener('abort', () => done()))
	);
	const outcome = turn.run();
	await expect.poll(() => turn.retry?.reason).toBe('busy');
	turn.stop();

	expect(await outcome).toBe('unsent');
	expect(turn.failure).toBeNull();
});

test('a resumed turn ignores the first title', async () => {
	const once = readStream('title').replace(/^data: .*"revision":2.*$/m, ': nothing');
	const play = () => Promise.resolve(streamResponse(once));
	const api = override(new Player('title'), { send: play, follow: play });
	const sent = new Turn(api, { body: BODY }, noBackoff);
	const followed = new Turn(api, { turnId: TURN_ID, conversationId: 'c1' }, noBackoff);
	await Promise.all([sent.run(), followed.run()]);

	expect(sent.title).toBe('How do I boil an egg?');
	expect(followed.title).toBeNull();
});

test('a turn is read again after any unreadable event', async () => {
	const player = new Player('hello');
	const odd = readStream('hello').replace(
		/^data: \{"type":"message_stream_complete".*$/m,
		'data: null'
	);
	const send = () => Promise.resolve(streamResponse(odd));
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(turn.messages).toEqual(readExpected('hello').messages);
});

test('a response without a turn id is sent again', async () => {
	const player = new Player('hello');
	const play = player.send;
	let numSent = 0;
	const send: TurnApi['send'] = (body, signal) =>
		++numSent === 1 ? Promise.resolve(new Response('<html>')) : play(body, signal);
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(numSent).toBe(2);
});

test('a resume waits for the server’s Retry-After', async () => {
	const waits: (number | null | undefined)[] = [];
	const player = new Player('hello');
	const play = player.follow;
	const refusals = [new ApiError('Wait.', 503, 'server_overloaded', null, 4_000)];
	const follow: TurnApi['follow'] = (turnId, after, signal) => {
		const refusal = refusals.shift();
		return refusal === undefined ? play(turnId, after, signal) : Promise.reject(refusal);
	};
	const start = { turnId: TURN_ID, conversationId: 'c1' };
	const turn = new Turn(override(player, { follow }), start, (_, __, waitMs) => {
		waits.push(waitMs);
		return noBackoff();
	});

	expect(await turn.run()).toBe('complete');
	expect(waits).toEqual([4_000]);
});

test('a token that the socket refuses is not used again', async () => {
	const token = { type: 'resume_conversation_token', token: 'old', conversation_id: 'c1' };
	const player = new Player('title', 8);
	const first = new Player('title', 8);
	const tokens: (string | null)[] = [];
	player.socket = {
		isOpen: true,
		async *follow({ token }) {
			tokens.push(token);
			throw new ApiError('Not for you.', 401, 'token_invalid');
		}
	};
	const send: TurnApi['send'] = async (body, signal) =>
		streamResponse(
			`data: ${JSON.stringify(token)}\n\n${await (await first.send(body, signal)).text()}`
		);
	const turn = new Turn(override(player, { send }), { body: BODY }, noBackoff);

	expect(await turn.run()).toBe('complete');
	expect(tokens).toEqual(['old']);
	expect(player.tokens[0]).toBeNull();
	expect(turn.messages).toEqual(readExpected('title').messages);
});
