// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api, ApiError } from '$/api/client';
import type { SendBody } from '$/api/wire';
import { Gate } from '$/gate/gate.svelte';
import type { Task } from '$/gate/solve';
import { done, NoWorker, type Work } from '$/gate/work';

const CHALLENGE = {
	prepare_token: 'p',
	proofofwork: { required: true, seed: 's', difficulty: '0fff' },
	expire_after: 600
};
const EARNED = { token: 'earned', expire_after: 540 };
const NEEDED = { error: { message: 'Work first.', code: 'proof_of_work_required' } };
const BODY = { action: 'next', messages: [], model: 'm' } as unknown as SendBody;
const alive = new AbortController().signal;

let asked: string[] = [];
let shown: (string | null)[] = [];
let tasks: Task[] = [];
let challenge = CHALLENGE;
const work: Work = (task) => {
	tasks.push(task);
	return Promise.resolve('hs1.solved');
};
/** A server that takes a message only with the token it gave last. */
const api = () =>
	new Api((path, init) => {
		const name = path.split('/').at(-1) ?? '';
		asked.push(name);
		const token = new Headers(init?.headers).get('hitsend-sentinel-token');
		if (name === 'prepare') return said(challenge);
		if (name === 'ping') return said({ ...EARNED, token: `${token} again` });
		if (name === 'finalize') {
			const { proofofwork } = JSON.parse(String(init?.body)) as { proofofwork: string | null };
			shown.push(proofofwork);
			return said(EARNED);
		}
		return token?.startsWith('earned') ? said({}) : said(NEEDED, 403);
	});
const said = (body: unknown, status = 200) => Promise.resolve(Response.json(body, { status }));

function guarded(how: Work = work): { door: Api; gate: Gate } {
	const door = api();
	const gate = new Gate(door, how);
	door.companions = () => gate.headers;
	door.prove = (left) => gate.earn(left);
	return { door, gate };
}

beforeEach(() => {
	vi.useFakeTimers();
	asked = [];
	shown = [];
	tasks = [];
	challenge = CHALLENGE;
});
afterEach(() => {
	vi.useRealTimers();
});

test('a Send that takes work is done by itself, and the next one takes none', async () => {
	const { door } = guarded();
	await door.send(BODY, alive);
	await door.send(BODY, alive);

	expect(asked).toEqual(['conversation', 'prepare', 'finalize', 'conversation', 'conversation']);
	expect(shown).toEqual(['hs1.solved']);
	expect(tasks).toMatchObject([{ seed: 's', difficulty: '0fff' }]);
	expect(tasks[0]?.nonce).toHaveLength(8);
});

test('while nobody asks for work, nobody is asked whether there is any', async () => {
	const { gate } = guarded();
	await gate.anticipate();

	expect(asked).toEqual([]);
});

test('where work was asked for before, it is done while somebody writes', async () => {
	const { door, gate } = guarded();
	await door.send(BODY, alive);
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
	await vi.advanceTimersByTimeAsync(540_000);
	asked = [];
	await Promise.all([gate.anticipate(), gate.anticipate()]);
	await door.send(BODY, alive);

	expect(asked).toEqual(['prepare', 'finalize', 'conversation']);
	vi.restoreAllMocks();
});

test('what was earned is renewed before it expires', async () => {
	const { door, gate } = guarded();
	await door.send(BODY, alive);
	await vi.advanceTimersByTimeAsync(481_000);

	expect(asked.at(-1)).toBe('ping');
	expect(gate.headers).toEqual({ 'hitsend-sentinel-token': 'earned again' });
	gate.leave();
	expect(gate.headers).toEqual({});
});

test('work that is no longer asked for is not done', async () => {
	challenge = { ...CHALLENGE, proofofwork: { ...CHALLENGE.proofofwork, required: false } };
	const { door } = guarded();
	await door.send(BODY, alive);

	expect(tasks).toEqual([]);
	expect(shown).toEqual([null]);
});

test('a browser without workers is told so, and nothing is sent again', async () => {
	const { door, gate } = guarded(() => Promise.reject(new NoWorker('blocked')));
	const sending = door.send(BODY, alive);

	await expect(sending).rejects.toMatchObject({ code: 'no_worker' });
	await expect(sending).rejects.toBeInstanceOf(ApiError);
	expect(gate.isWorking).toBe(false);
	expect(asked).toEqual(['conversation', 'prepare']);
});

/** Work without an end, and what becomes of each piece of it. */
function endless(): { work: Work; signals: AbortSignal[] } {
	const signals: AbortSignal[] = [];
	const work: Work = (_, signal) => {
		signals.push(signal);
		return new Promise((_, reject) => {
			signal.addEventListener('abort', () => reject(signal.reason as Error));
		});
	};
	return { work, signals };
}

test('who stops does not wait for the work, and work that nobody waits for ends', async () => {
	const { work, signals } = endless();
	const { door, gate } = guarded(work);
	const [one, other] = [new AbortController(), new AbortController()];
	const sending = [one, other].map(({ signal }) => door.send(BODY, signal));
	const failed = sending.map((sent) => expect(sent).rejects.toThrow());
	await vi.advanceTimersByTimeAsync(0);
	one.abort();
	await failed[0];
	expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
	other.abort();
	await failed[1];
	expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
	expect(gate.isWorking).toBe(false);
	void gate.anticipate();
	await vi.advanceTimersByTimeAsync(0);
	expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
	gate.leave();

	expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test.each(['', 'zz', '0x0f', '00 f'])('work as hard as %j is not begun', async (difficulty) => {
	challenge = { ...CHALLENGE, proofofwork: { ...CHALLENGE.proofofwork, difficulty } };
	const { door } = guarded();

	await expect(door.send(BODY, alive)).rejects.toBeInstanceOf(ApiError);
	expect(tasks).toEqual([]);
});

test('what is earned after one has left is not kept, nor kept alive', async () => {
	const { door, gate } = guarded();
	const sending = door.send(BODY, alive);
	gate.leave();
	await expect(sending).rejects.toThrow();
	await vi.advanceTimersByTimeAsync(540_000);

	expect(gate.headers).toEqual({});
	expect(asked).not.toContain('ping');
});

/** A worker that answers, breaks or stays silent. */
class Fake {
	onmessage: ((event: MessageEvent<string>) => void) | null = null;
	onerror: (() => void) | null = null;
	isEnded = false;
	given: Task[] = [];
	constructor(private readonly does: 'answers' | 'breaks' | 'nothing') {}
	postMessage(task: Task): void {
		this.given.push(task);
		if (this.does === 'answers') this.onmessage?.(new MessageEvent('message', { data: 'hs1.x' }));
		if (this.does === 'breaks') this.onerror?.();
	}
	terminate(): void {
		this.isEnded = true;
	}
}
const TASK = { seed: 's', difficulty: '0f', nonce: 'n' };

test('a worker is given the task, and ends with it', async () => {
	const worker = new Fake('answers');

	expect(await done(() => worker as unknown as Worker, TASK, alive)).toBe('hs1.x');
	expect(worker.given).toEqual([TASK]);
	expect(worker.isEnded).toBe(true);
});

test('one that breaks, or is not allowed, is no worker', async () => {
	const worker = new Fake('breaks');

	await expect(done(() => worker as unknown as Worker, TASK, alive)).rejects.toThrow(NoWorker);
	expect(worker.isEnded).toBe(true);
	const forbidden = () => {
		throw new DOMException('no', 'SecurityError');
	};
	await expect(done(forbidden, TASK, alive)).rejects.toThrow(NoWorker);
});

test('one that nobody waits for ends at once', async () => {
	const worker = new Fake('nothing');
	const left = new AbortController();
	const working = done(() => worker as unknown as Worker, TASK, left.signal);
	left.abort();

	await expect(working).rejects.toThrow();
	expect(worker.isEnded).toBe(true);
});

test('nothing of it stays with whoever waited', async () => {
	const { signal } = new AbortController();
	const taken = vi.spyOn(signal, 'addEventListener');
	await done(() => new Fake('answers') as unknown as Worker, TASK, signal);

	const options = taken.mock.calls[0]?.[2] as AddEventListenerOptions;
	expect(options.signal?.aborted).toBe(true);
});
