// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { ApiError, Unreachable } from '$/api/client';
import type { SendBody } from '$/api/wire';
import { expected, names, sse } from '$/turn/recorded';
import { Turn } from '$/turn/turn.svelte';

const BODY: SendBody = {
	action: 'next',
	messages: [],
	parent_message_id: 'client-created-root',
	model: 'auto',
	supported_encodings: ['v1']
};
const TURN_ID = 't1';
const atOnce = () => Promise.resolve();

/** The frames of a recorded turn. The last frame of an event has its number. */
function frames(name: string): { text: string; seq: number | null }[] {
	return sse(name)
		.split(/(?<=\n\n)/)
		.map((text) => ({ text, seq: Number(/^id: (\d+)$/m.exec(text)?.[1] ?? NaN) || null }));
}

/** A server that plays a recorded turn, and drops the connection after so many frames. */
class Player {
	readonly asked: number[] = [];
	readonly stopped: string[] = [];
	#frames: ReturnType<typeof frames>;
	#cuts: number[];

	constructor(name: string, ...cuts: number[]) {
		this.#frames = frames(name);
		this.#cuts = cuts;
	}

	send = () => this.#play(0);
	follow = (_turnId: string, after: number) => this.#play(after);
	stop = (_conversationId: string, turnId: string) => {
		this.stopped.push(turnId);
		return Promise.resolve();
	};

	#play(after: number): Promise<Response> {
		this.asked.push(after);
		const start = this.#frames.findIndex(({ seq }) => seq === after) + 1;
		const resumed = { type: 'stream_resumed', carry: this.#carryAt(start) };
		const pieces = this.#frames.slice(start, this.#cuts.shift()).map(({ text }) => text);
		if (after > 0) pieces.unshift(`data: ${JSON.stringify(resumed)}\n\n`);
		const headers = { 'x-turn-exchange-id': TURN_ID };
		return Promise.resolve(new Response(pieces.join(''), { headers }));
	}

	#carryAt(start: number): object {
		const deltas = this.#frames
			.slice(0, start)
			.filter(({ text }) => text.includes('event: delta\n'))
			.map(({ text }) => JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? '{}') as object);
		return Object.assign({ c: null, p: null, o: null }, ...deltas, { v: undefined }) as object;
	}
}

test.each(names)('the recorded turn %s is read to its exact end', async (name) => {
	const turn = new Turn(new Player(name), { body: BODY }, atOnce);

	expect(await turn.run()).toBe('whole');
	expect(turn.messages).toEqual(expected(name).messages);
	expect(turn.isRunning).toBe(false);
});

test('a turn whose line is cut anywhere reads as if it had not been', async () => {
	for (let cut = 1; cut < frames('title').length; cut++) {
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

test('text that is not what the server stored is doubtful', async () => {
	const player = new Player('hello');
	const wrong = sse('hello').replace('"Hel"', '"Hal"');
	const send = () =>
		Promise.resolve(new Response(wrong, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn({ ...player, send }, { body: BODY }, atOnce);

	expect(await turn.run()).toBe('doubtful');
});

test('a delta that cannot be applied starts the reading over', async () => {
	const player = new Player('hello');
	const wrong = sse('hello').replace('"append"', '"frobnicate"');
	const send = () =>
		Promise.resolve(new Response(wrong, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn({ ...player, send }, { body: BODY }, atOnce);

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
		const door = { ...new Player('hello'), send: () => Promise.reject(error) };
		const turn = new Turn(door, { body: BODY }, atOnce);

		expect(await turn.run()).toBe('unsent');
		expect(turn.failure?.message).toBe(error.message);
	}
);

test('a turn the server no longer knows is doubtful', async () => {
	const gone = () => Promise.reject(new ApiError('There is no such turn.', 404, 'not_found'));
	const door = { ...new Player('hello'), follow: gone };
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
	const follow = (_id: string, _after: number, signal: AbortSignal) =>
		signal.aborted ? Promise.reject(new DOMException('', 'AbortError')) : player.follow('', 0);
	player.follow = follow as typeof player.follow;

	expect(await turn.run()).toBe('left');
	expect(player.stopped).toEqual([]);
});

test('why an answer waits is known as the server said it last', async () => {
	const wait = (num_ahead: number) =>
		`data: ${JSON.stringify({ type: 'answer_delayed', reason: 'queue', num_ahead })}\n\n`;
	const delayed = `${wait(2)}${wait(1)}${sse('hello')}`;
	const send = () =>
		Promise.resolve(new Response(delayed, { headers: { 'x-turn-exchange-id': 't' } }));
	const turn = new Turn({ ...new Player('hello'), send }, { body: BODY }, atOnce);
	await turn.run();

	expect(turn.delay).toEqual({ reason: 'queue', numAhead: 1 });
});

test('a turn that is stopped and never named is not waited for', async () => {
	vi.useFakeTimers();
	const send = (_body: SendBody, signal: AbortSignal) =>
		new Promise<Response>((_, reject) =>
			signal.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
		);
	const turn = new Turn({ ...new Player('hello'), send }, { body: BODY }, atOnce);
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
	const door = { ...new Player('hello'), send: wrong, follow: wrong };
	const turn = new Turn(door, { body: BODY }, atOnce);

	expect(await turn.run()).toBe('doubtful');
	expect(numReadings).toBe(3);
});

test('a turn that is stopped while the server cannot be told ends here', async () => {
	const lost = () => Promise.reject(new Unreachable());
	const door = { ...new Player('hello'), follow: lost, stop: lost };
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
	const turn = new Turn({ ...new Player('hello'), send }, { body: BODY }, atOnce);
	const outcome = turn.run();
	turn.leave();
	expect(signals[0]?.aborted).toBe(false);
	answer.come(await new Player('hello', 3).send());

	expect(await turn.taken).toBe(true);
	expect(await outcome).toBe('left');
});

/** A response that comes when the test says so. */
function later() {
	let come: (response: Response) => void = () => undefined;
	const response = new Promise<Response>((resolve) => (come = resolve));
	return { response, come };
}
