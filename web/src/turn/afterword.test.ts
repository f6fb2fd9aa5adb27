import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Dropped, type Frame } from '$/api/stream';
import { readAfterword, readEnd } from '$/turn/afterword';

const TITLE: Frame = { seq: 9, event: 'message', data: '{"type":"title_generation"}' };
const DONE: Frame = { seq: null, event: 'message', data: '[DONE]' };

/** A stream that is silent until it is stopped, and its reader. */
class Waiter {
	isStopped = false;
	readonly received: Frame[] = [];
	readonly done: Promise<void>;
	#stop = new AbortController();

	constructor(kind: 'end' | 'socket' | 'http', frames = this.#silence()) {
		const reader = {
			receive: (frame: Frame) => this.received.push(frame),
			stop: () => this.#stop.abort()
		};
		const reading =
			kind === 'end' ? readEnd(frames, reader) : readAfterword(frames, reader, kind === 'http');
		this.done = reading.catch((error: unknown) => {
			if (!(error instanceof Dropped)) throw error;
			this.isStopped = true;
		});
	}

	async *#silence(): AsyncGenerator<Frame> {
		await new Promise((_, reject) => {
			this.#stop.signal.addEventListener('abort', () => reject(new Dropped()));
		});
	}

	stop(): Promise<void> {
		this.#stop.abort();
		return this.done;
	}
}

async function* streamOf(...frames: Frame[]): AsyncGenerator<Frame> {
	yield* frames;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('frames are read until [DONE]', async () => {
	const waiter = new Waiter('http', streamOf(TITLE, DONE, TITLE));
	await waiter.done;

	expect(waiter.received).toEqual([TITLE]);
	expect(vi.getTimerCount()).toBe(0);
});

test('the wait for the end of a stream is over after one second', async () => {
	const waiter = new Waiter('end');
	await vi.advanceTimersByTimeAsync(900);
	expect(waiter.isStopped).toBe(false);
	await vi.advanceTimersByTimeAsync(200);

	expect(waiter.isStopped).toBe(true);
});

test('the wait for an afterword is over after half a minute', async () => {
	const waiter = new Waiter('http');
	await vi.advanceTimersByTimeAsync(29_000);
	expect(waiter.isStopped).toBe(false);
	await vi.advanceTimersByTimeAsync(2_000);

	expect(waiter.isStopped).toBe(true);
});

test('only the newest of all waits over HTTP continues', async () => {
	const waiters = Array.from({ length: 7 }, () => new Waiter('http'));
	await Promise.all(waiters.slice(0, -1).map(({ done }) => done));

	expect(waiters.map(({ isStopped }) => isStopped)).toEqual([
		...Array<boolean>(6).fill(true),
		false
	]);
	await waiters.at(-1)?.stop();
});

test('a wait over the socket does not end one over HTTP', async () => {
	const http = new Waiter('http');
	const socket = new Waiter('socket');
	await vi.advanceTimersByTimeAsync(2_000);
	expect(http.isStopped).toBe(false);
	expect(socket.isStopped).toBe(false);

	await Promise.all([http.stop(), socket.stop()]);
});
