// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { Download, Model, Offer, Status } from '$/api/wire';
import { Engine } from '$/state/engine.svelte';

const READY: Status = {
	state: 'ready',
	detail: '',
	num_busy_slots: 0,
	num_slots: 2,
	num_waiting: 0,
	downloads: [],
	model: 'small'
};
const SMALL: Model = {
	name: 'small',
	title: 'Small',
	is_default: true,
	num_window_tokens: 8192,
	level: 'tokens',
	where: 'here',
	quantisation: 'Q4_1',
	num_bytes: 98_000_000,
	can_call_tools: false,
	num_tokens_per_s: null,
	good_at: ['short_answers']
};
const BIG: Model = { ...SMALL, name: 'big', title: 'Big', is_default: false };
const OFFER: Offer = {
	name: 'big',
	title: 'Big',
	num_bytes: 9,
	num_window_tokens: 8192,
	quantisation: 'Q4_1',
	good_at: [],
	is_here: false
};
const COMING: Download = { name: 'big', num_done_bytes: 1, num_bytes: 9, problem: null };

let asked: string[] = [];
let status: Status | null | 'silent' = READY;
let models: Model[] = [SMALL];
let refusal: Response | null = null;

const api = new Api((path, init) => {
	if (status === null) return Promise.reject(new TypeError('Failed to fetch'));
	if (status === 'silent') return silence(init?.signal);
	asked.push(`${init?.method ?? 'GET'} ${path.replace('/backend-api/', '')}`);
	if (init?.method !== 'GET') {
		return Promise.resolve(refusal ?? new Response(null, { status: 204 }));
	}
	const body = path.endsWith('/status') ? status : { models, offers: [OFFER] };
	return Promise.resolve(Response.json(body));
});

/** As `fetch` waits for a server that never answers. */
function silence(left: AbortSignal | null | undefined): Promise<never> {
	return new Promise((_, reject) => {
		left?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
	});
}

const numStatusAsked = () => asked.filter((one) => one === 'GET status').length;

let end: () => void = () => undefined;
function watched(): Engine {
	const engine = new Engine(api, localStorage);
	end = engine.watch();
	return engine;
}

beforeEach(() => {
	asked = [];
	status = READY;
	models = [SMALL];
	refusal = null;
	localStorage.clear();
	vi.useFakeTimers();
});
afterEach(() => {
	end();
	vi.useRealTimers();
});

test('an engine that is at rest is asked about rarely', async () => {
	const engine = watched();
	await vi.advanceTimersByTimeAsync(29_000);

	expect(numStatusAsked()).toBe(1);
	expect(engine.modelTitle).toBe('Small');
	expect(engine.offers).toEqual([OFFER]);
});

test('a download is followed closely, and no longer once it is over', async () => {
	status = { ...READY, downloads: [COMING] };
	const engine = watched();
	await vi.advanceTimersByTimeAsync(5_000);
	expect(engine.downloads).toEqual([COMING]);
	expect(numStatusAsked()).toBe(4);
	status = { ...READY, downloads: [{ ...COMING, num_done_bytes: 9 }] };
	models = [SMALL, BIG];
	await vi.advanceTimersByTimeAsync(20_000);

	expect(engine.downloads).toEqual([]);
	expect(engine.models).toEqual([SMALL, BIG]);
	expect(numStatusAsked()).toBe(5);
});

test('a download that failed stays to be read, and is not asked about all the time', async () => {
	status = { ...READY, downloads: [{ ...COMING, problem: 'The disk is full.' }] };
	const engine = watched();
	await vi.advanceTimersByTimeAsync(20_000);

	expect(engine.downloads[0]?.problem).toBe('The disk is full.');
	expect(numStatusAsked()).toBe(1);
});

test('while somebody waits for an answer the engine is asked often', async () => {
	const engine = watched();
	await vi.advanceTimersByTimeAsync(100);
	const calm = engine.hurry();
	await vi.advanceTimersByTimeAsync(3_100);
	expect(numStatusAsked()).toBe(4);
	calm();
	await vi.advanceTimersByTimeAsync(20_000);

	expect(numStatusAsked()).toBe(5);
});

test('one lost question is no proof, two are; the model keeps its name meanwhile', async () => {
	const engine = watched();
	await vi.advanceTimersByTimeAsync(100);
	status = null;
	await engine.refresh();
	expect(engine.isReachable).toBe(true);
	await engine.refresh();
	expect(engine.isReachable).toBe(false);
	expect(engine.modelTitle).toBe('Small');
	status = READY;
	await vi.advanceTimersByTimeAsync(30_000);

	expect(engine.isReachable).toBe(true);
});

test('a connection that loses every other question does not flap', async () => {
	const busy = { ...READY, downloads: [COMING] };
	status = busy;
	const engine = watched();
	await vi.advanceTimersByTimeAsync(100);
	const seen = new Set<boolean>();
	for (let i = 0; i < 6; i += 1) {
		status = i % 2 === 0 ? null : busy;
		await vi.advanceTimersByTimeAsync(1_500);
		seen.add(engine.isReachable);
	}

	expect([...seen]).toEqual([true]);
});

test('a server that never answers is not waited for for ever', async () => {
	status = 'silent';
	const engine = watched();
	await vi.advanceTimersByTimeAsync(25_000);
	expect(engine.isReachable).toBe(false);
	status = READY;
	await vi.advanceTimersByTimeAsync(12_000);

	expect(engine.isReachable).toBe(true);
});

test('being connected again is noticed at once', async () => {
	const engine = watched();
	await vi.advanceTimersByTimeAsync(100);
	status = { ...READY, state: 'restarting' };
	dispatchEvent(new Event('online'));
	await vi.advanceTimersByTimeAsync(0);

	expect(engine.status?.state).toBe('restarting');
});

test('a chosen model is asked for, also after a reload, until it is gone', async () => {
	models = [SMALL, BIG];
	const engine = watched();
	await vi.advanceTimersByTimeAsync(0);
	engine.chosen = 'big';
	expect(engine.inUse).toEqual(BIG);
	end();

	const reloaded = watched();
	await vi.advanceTimersByTimeAsync(0);
	expect(reloaded.chosen).toBe('big');
	models = [SMALL];
	await reloaded.refresh();
	expect(reloaded.chosen).toBe('auto');
	expect(reloaded.inUse).toEqual(SMALL);
});

test('choosing the standard model follows whatever is the standard later', async () => {
	models = [SMALL, BIG];
	const engine = watched();
	await vi.advanceTimersByTimeAsync(0);
	engine.chosen = 'big';
	engine.chosen = 'small';

	expect(engine.chosen).toBe('auto');
	expect(localStorage).toHaveLength(0);
});

test('fetching a model is asked for once and followed from then on', async () => {
	const engine = watched();
	await vi.advanceTimersByTimeAsync(0);
	status = { ...READY, downloads: [COMING] };
	await engine.pull('big');

	expect(asked).toContain('POST models/big/pull');
	expect(engine.downloads).toEqual([COMING]);
});

test('what cannot be removed says why', async () => {
	const engine = watched();
	await vi.advanceTimersByTimeAsync(0);
	const error = { message: 'This model is in use.', code: 'conflict' };
	refusal = Response.json({ error }, { status: 409 });

	await expect(engine.remove('small')).rejects.toMatchObject(error);
});
