// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import { ApiError } from '$/api/http';
import type { SendBody } from '$/api/wire';
import { ProofOfWork } from '$/proof_of_work/proofOfWork.svelte';
import type { Task } from '$/proof_of_work/solve';
import { NoWorker, solveWith, type Solve } from '$/proof_of_work/solveInWorker';

const CHALLENGE = {
	prepare_token: 'p',
	proofofwork: { required: true, seed: 's', difficulty: '0fff' },
	expire_after: 600
};
const EARNED = { token: 'earned', expire_after: 540 };
const NEEDED = { error: { message: 'Work first.', code: 'proof_of_work_required' } };
const BODY = { action: 'next', messages: [], model: 'm' } as unknown as SendBody;
const signal = new AbortController().signal;

let requests: string[] = [];
let proofsSent: (string | null)[] = [];
let tasks: Task[] = [];
let challenge = CHALLENGE;
const solveAtOnce: Solve = (task) => {
	tasks.push(task);
	return Promise.resolve('hs1.solved');
};
/** A server that accepts a Send only with a token it issued. */
const createApi = () =>
	new Api((path, init) => {
		const name = path.split('/').at(-1) ?? '';
		requests.push(name);
		const token = new Headers(init?.headers).get('hitsend-sentinel-token');
		if (name === 'prepare') return respond(challenge);
		if (name === 'ping') return respond({ ...EARNED, token: `${token} again` });
		if (name === 'finalize') {
			const { proofofwork } = JSON.parse(String(init?.body)) as { proofofwork: string | null };
			proofsSent.push(proofofwork);
			return respond(EARNED);
		}
		return token?.startsWith('earned') ? respond({}) : respond(NEEDED, 403);
	});
const respond = (body: unknown, status = 200) => Promise.resolve(Response.json(body, { status }));

function setUp(solve: Solve = solveAtOnce): { api: Api; proofs: ProofOfWork } {
	const api = createApi();
	const proofs = new ProofOfWork(api, solve);
	api.sendHeaders = () => proofs.headers;
	api.prove = (signal) => proofs.earnToken(signal);
	return { api, proofs };
}

beforeEach(() => {
	vi.useFakeTimers();
	requests = [];
	proofsSent = [];
	tasks = [];
	challenge = CHALLENGE;
});
afterEach(() => {
	vi.useRealTimers();
});

test('a Send solves the proof that it needs, and the next Send reuses the token', async () => {
	const { api } = setUp();
	await api.send(BODY, signal);
	await api.send(BODY, signal);

	expect(requests).toEqual(['conversation', 'prepare', 'finalize', 'conversation', 'conversation']);
	expect(proofsSent).toEqual(['hs1.solved']);
	expect(tasks).toMatchObject([{ seed: 's', difficulty: '0fff' }]);
	expect(tasks[0]?.nonce).toHaveLength(8);
});

test('without a requirement no request is made', async () => {
	const { proofs } = setUp();
	await proofs.solveAhead();

	expect(requests).toEqual([]);
});

test('after a first requirement the proof is solved while the person writes', async () => {
	const { api, proofs } = setUp();
	await api.send(BODY, signal);
	vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
	await vi.advanceTimersByTimeAsync(540_000);
	requests = [];
	await Promise.all([proofs.solveAhead(), proofs.solveAhead()]);
	await api.send(BODY, signal);

	expect(requests).toEqual(['prepare', 'finalize', 'conversation']);
	vi.restoreAllMocks();
});

test('a token is renewed before it expires', async () => {
	const { api, proofs } = setUp();
	await api.send(BODY, signal);
	await vi.advanceTimersByTimeAsync(481_000);

	expect(requests.at(-1)).toBe('ping');
	expect(proofs.headers).toEqual({ 'hitsend-sentinel-token': 'earned again' });
	proofs.close();
	expect(proofs.headers).toEqual({});
});

test('a proof that is no longer required is not solved', async () => {
	challenge = { ...CHALLENGE, proofofwork: { ...CHALLENGE.proofofwork, required: false } };
	const { api } = setUp();
	await api.send(BODY, signal);

	expect(tasks).toEqual([]);
	expect(proofsSent).toEqual([null]);
});

test('without workers the Send fails with no_worker and is not repeated', async () => {
	const { api, proofs } = setUp(() => Promise.reject(new NoWorker('blocked')));
	const sending = api.send(BODY, signal);

	await expect(sending).rejects.toMatchObject({ code: 'no_worker' });
	await expect(sending).rejects.toBeInstanceOf(ApiError);
	expect(proofs.isWorking).toBe(false);
	expect(requests).toEqual(['conversation', 'prepare']);
});

/** A solver that never finishes, and the signals it was given. */
function createEndlessSolver(): { solve: Solve; signals: AbortSignal[] } {
	const signals: AbortSignal[] = [];
	const solve: Solve = (_, signal) => {
		signals.push(signal);
		return new Promise((_, reject) => {
			signal.addEventListener('abort', () => reject(signal.reason as Error));
		});
	};
	return { solve, signals };
}

test('an aborted Send stops waiting, and the solver ends with its last waiter', async () => {
	const { solve, signals } = createEndlessSolver();
	const { api, proofs } = setUp(solve);
	const [one, other] = [new AbortController(), new AbortController()];
	const sending = [one, other].map(({ signal }) => api.send(BODY, signal));
	const failed = sending.map((sent) => expect(sent).rejects.toThrow());
	await vi.advanceTimersByTimeAsync(0);
	one.abort();
	await failed[0];
	expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
	other.abort();
	await failed[1];
	expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
	expect(proofs.isWorking).toBe(false);
	void proofs.solveAhead();
	await vi.advanceTimersByTimeAsync(0);
	expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
	proofs.close();

	expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test.each(['', 'zz', '0x0f', '00 f'])(
	'the invalid difficulty %j is refused',
	async (difficulty) => {
		challenge = { ...CHALLENGE, proofofwork: { ...CHALLENGE.proofofwork, difficulty } };
		const { api } = setUp();

		await expect(api.send(BODY, signal)).rejects.toBeInstanceOf(ApiError);
		expect(tasks).toEqual([]);
	}
);

test('a token that arrives after close is dropped and not renewed', async () => {
	const { api, proofs } = setUp();
	const sending = api.send(BODY, signal);
	proofs.close();
	await expect(sending).rejects.toThrow();
	await vi.advanceTimersByTimeAsync(540_000);

	expect(proofs.headers).toEqual({});
	expect(requests).not.toContain('ping');
});

class FakeWorker {
	onmessage: ((event: MessageEvent<string>) => void) | null = null;
	onerror: (() => void) | null = null;
	isTerminated = false;
	tasks: Task[] = [];
	constructor(private readonly behaviour: 'answers' | 'breaks' | 'nothing') {}
	postMessage(task: Task): void {
		this.tasks.push(task);
		if (this.behaviour === 'answers')
			this.onmessage?.(new MessageEvent('message', { data: 'hs1.x' }));
		if (this.behaviour === 'breaks') this.onerror?.();
	}
	terminate(): void {
		this.isTerminated = true;
	}
}
const TASK = { seed: 's', difficulty: '0f', nonce: 'n' };

test('a worker gets the task, and is terminated after its solution', async () => {
	const worker = new FakeWorker('answers');

	expect(await solveWith(() => worker as unknown as Worker, TASK, signal)).toBe('hs1.x');
	expect(worker.tasks).toEqual([TASK]);
	expect(worker.isTerminated).toBe(true);
});

test('a worker that fails or is forbidden is a NoWorker error', async () => {
	const worker = new FakeWorker('breaks');

	await expect(solveWith(() => worker as unknown as Worker, TASK, signal)).rejects.toThrow(
		NoWorker
	);
	expect(worker.isTerminated).toBe(true);
	const forbidden = () => {
		throw new DOMException('no', 'SecurityError');
	};
	await expect(solveWith(forbidden, TASK, signal)).rejects.toThrow(NoWorker);
});

test('an aborted worker is terminated at once', async () => {
	const worker = new FakeWorker('nothing');
	const abort = new AbortController();
	const working = solveWith(() => worker as unknown as Worker, TASK, abort.signal);
	abort.abort();

	await expect(working).rejects.toThrow();
	expect(worker.isTerminated).toBe(true);
});

test('the abort listener is removed after the solution', async () => {
	const { signal } = new AbortController();
	const added = vi.spyOn(signal, 'addEventListener');
	await solveWith(() => new FakeWorker('answers') as unknown as Worker, TASK, signal);

	const options = added.mock.calls[0]?.[2] as AddEventListenerOptions;
	expect(options.signal?.aborted).toBe(true);
});
