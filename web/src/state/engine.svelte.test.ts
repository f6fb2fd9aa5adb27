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
	first_token_s: null,
	downloads: [],
	model: 'small',
	store: 'ready'
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
	has_room_beside: false,
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
const DOWNLOAD: Download = { name: 'big', num_done_bytes: 1, num_bytes: 9, problem: null };

let requests: string[] = [];
let status: Status | null | 'silent' = READY;
let models: Model[] = [SMALL];
let refusal: Response | null = null;

const api = new Api((path, init) => {
	if (status === null) return Promise.reject(new TypeError('Failed to fetch'));
	if (status === 'silent') return neverRespond(init?.signal);
	requests.push(`${init?.method ?? 'GET'} ${path.replace('/backend-api/', '')}`);
	if (init?.method !== 'GET') {
		return Promise.resolve(refusal ?? new Response(null, { status: 204 }));
	}
	const body = path.endsWith('/status') ? status : { models, offers: [OFFER] };
	return Promise.resolve(Response.json(body));
});

/** A `fetch` whose response never comes. */
function neverRespond(signal: AbortSignal | null | undefined): Promise<never> {
	return new Promise((_, reject) => {
		signal?.addEventListener('abort', () => reject(new DOMException('', 'AbortError')));
	});
}

const countStatusRequests = () => requests.filter((one) => one === 'GET status').length;

let end: () => void = () => undefined;
function startPolling(): Engine {
	const engine = new Engine(api, localStorage);
	end = engine.poll();
	return engine;
}

beforeEach(() => {
	requests = [];
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

test('an idle engine is polled slowly', async () => {
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(29_000);

	expect(countStatusRequests()).toBe(1);
	expect(engine.modelTitle).toBe('Small');
	expect(engine.offers).toEqual([OFFER]);
});

test('the status is polled fast during a download', async () => {
	status = { ...READY, downloads: [DOWNLOAD] };
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(5_000);
	expect(engine.downloads).toEqual([DOWNLOAD]);
	expect(countStatusRequests()).toBe(4);
	status = { ...READY, downloads: [{ ...DOWNLOAD, num_done_bytes: 9 }] };
	models = [SMALL, BIG];
	await vi.advanceTimersByTimeAsync(20_000);

	expect(engine.downloads).toEqual([]);
	expect(engine.models).toEqual([SMALL, BIG]);
	expect(countStatusRequests()).toBe(5);
});

test('a failed download stays listed, and is polled slowly', async () => {
	status = { ...READY, downloads: [{ ...DOWNLOAD, problem: 'The disk is full.' }] };
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(20_000);

	expect(engine.downloads[0]?.problem).toBe('The disk is full.');
	expect(countStatusRequests()).toBe(1);
});

test('a store that cannot save is polled fast until it can', async () => {
	status = { ...READY, store: 'disk_full' };
	startPolling();
	await vi.advanceTimersByTimeAsync(3_100);
	expect(countStatusRequests()).toBe(3);
	status = READY;
	await vi.advanceTimersByTimeAsync(1_500);
	await vi.advanceTimersByTimeAsync(20_000);
	expect(countStatusRequests()).toBe(4);
});

test('pollFast polls fast until it is ended', async () => {
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(100);
	const endFast = engine.pollFast();
	await vi.advanceTimersByTimeAsync(3_100);
	expect(countStatusRequests()).toBe(4);
	endFast();
	await vi.advanceTimersByTimeAsync(20_000);

	expect(countStatusRequests()).toBe(5);
});

test('two failures make the server unreachable, one does not; the model title stays', async () => {
	const engine = startPolling();
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

test('a connection that loses every other request stays reachable', async () => {
	const busy = { ...READY, downloads: [DOWNLOAD] };
	status = busy;
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(100);
	const seen = new Set<boolean>();
	for (let i = 0; i < 6; i += 1) {
		status = i % 2 === 0 ? null : busy;
		await vi.advanceTimersByTimeAsync(1_500);
		seen.add(engine.isReachable);
	}

	expect([...seen]).toEqual([true]);
});

test('a server that never answers times out', async () => {
	status = 'silent';
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(25_000);
	expect(engine.isReachable).toBe(false);
	status = READY;
	await vi.advanceTimersByTimeAsync(12_000);

	expect(engine.isReachable).toBe(true);
});

test('the status is fetched when the browser is online again', async () => {
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(100);
	status = { ...READY, state: 'restarting' };
	dispatchEvent(new Event('online'));
	await vi.advanceTimersByTimeAsync(0);

	expect(engine.status?.state).toBe('restarting');
});

test('a chosen model survives a reload until it is removed', async () => {
	models = [SMALL, BIG];
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(0);
	engine.chosen = 'big';
	expect(engine.activeModel).toEqual(BIG);
	end();

	const reloaded = startPolling();
	await vi.advanceTimersByTimeAsync(0);
	expect(reloaded.chosen).toBe('big');
	models = [SMALL];
	await reloaded.refresh();
	expect(reloaded.chosen).toBe('auto');
	expect(reloaded.activeModel).toEqual(SMALL);
});

test('choosing the default model means `auto`', async () => {
	models = [SMALL, BIG];
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(0);
	engine.chosen = 'big';
	engine.chosen = 'small';

	expect(engine.chosen).toBe('auto');
	expect(localStorage).toHaveLength(0);
});

test('pulling a model shows its download', async () => {
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(0);
	status = { ...READY, downloads: [DOWNLOAD] };
	await engine.pull('big');

	expect(requests).toContain('POST models/big/pull');
	expect(engine.downloads).toEqual([DOWNLOAD]);
});

test('a refused removal throws the reason', async () => {
	const engine = startPolling();
	await vi.advanceTimersByTimeAsync(0);
	const error = { message: 'This model is in use.', code: 'conflict' };
	refusal = Response.json({ error }, { status: 409 });

	await expect(engine.remove('small')).rejects.toMatchObject(error);
});
