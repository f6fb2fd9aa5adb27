import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Dropped, type Frame } from '$/api/stream';
import { hearOut } from '$/turn/afterword';

const TITLE: Frame = { seq: 9, event: 'message', data: '{"type":"title_generation"}' };
const DONE: Frame = { seq: null, event: 'message', data: '[DONE]' };

/** A stream that says nothing more for as long as it is held, and whoever holds it. */
class Held {
	isLeft = false;
	readonly heard: Frame[] = [];
	readonly over: Promise<void>;
	#left = new AbortController();

	constructor(isToldAnyway: boolean, frames = this.#silence()) {
		this.over = hearOut(frames, isToldAnyway, {
			take: (frame) => this.heard.push(frame),
			leave: () => this.#left.abort()
		}).catch((error: unknown) => {
			if (!(error instanceof Dropped)) throw error;
			this.isLeft = true;
		});
	}

	async *#silence(): AsyncGenerator<Frame> {
		await new Promise((_, reject) => {
			this.#left.signal.addEventListener('abort', () => reject(new Dropped()));
		});
	}

	leave(): Promise<void> {
		this.#left.abort();
		return this.over;
	}
}

async function* said(...frames: Frame[]): AsyncGenerator<Frame> {
	yield* frames;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('what follows an answer is heard until the stream is done', async () => {
	const held = new Held(false, said(TITLE, DONE, TITLE));
	await held.over;

	expect(held.heard).toEqual([TITLE]);
	expect(vi.getTimerCount()).toBe(0);
});

test('where titles are told anyway, a stream that does not end is left after a moment', async () => {
	const held = new Held(true);
	await vi.advanceTimersByTimeAsync(900);
	expect(held.isLeft).toBe(false);
	await vi.advanceTimersByTimeAsync(200);

	expect(held.isLeft).toBe(true);
});

test('where they are not, a stream is held for half a minute and no longer', async () => {
	const held = new Held(false);
	await vi.advanceTimersByTimeAsync(29_000);
	expect(held.isLeft).toBe(false);
	await vi.advanceTimersByTimeAsync(2_000);

	expect(held.isLeft).toBe(true);
});

test('of all streams that wait for a title only the newest is held', async () => {
	const held = Array.from({ length: 7 }, () => new Held(false));
	await Promise.all(held.slice(0, -1).map(({ over }) => over));

	expect(held.map(({ isLeft }) => isLeft)).toEqual([...Array<boolean>(6).fill(true), false]);
	await held.at(-1)?.leave();
});

test('a stream that is about to end takes nobody’s place', async () => {
	const waits = new Held(false);
	const ends = new Held(true);
	await vi.advanceTimersByTimeAsync(2_000);
	await ends.over;

	expect(waits.isLeft).toBe(false);
	await waits.leave();
});
