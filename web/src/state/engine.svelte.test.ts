import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { Status } from '$/api/wire';
import { Engine } from '$/state/engine.svelte';

const READY: Status = { state: 'ready', detail: '', downloads: [], model: 'small' };
const MODELS = { models: [{ name: 'small', title: 'Small', is_default: true }] };

let asked = 0;
let status: Status | null = READY;
const api = new Api((path) => {
	if (status === null) return Promise.reject(new TypeError('Failed to fetch'));
	if (path.endsWith('/status')) asked += 1;
	return Promise.resolve(Response.json(path.endsWith('/status') ? status : MODELS));
});

beforeEach(() => {
	asked = 0;
	vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

test('an engine that is at rest is asked about rarely', async () => {
	status = READY;
	const engine = new Engine(api);
	const end = engine.watch();
	await vi.advanceTimersByTimeAsync(29_000);
	end();

	expect(asked).toBe(1);
	expect(engine.modelTitle).toBe('Small');
});

test('a download is followed closely, and no longer once it is over', async () => {
	const download = { name: 'big', num_done_bytes: 1, num_bytes: 9, problem: null };
	status = { ...READY, downloads: [download] };
	const engine = new Engine(api);
	const end = engine.watch();
	await vi.advanceTimersByTimeAsync(9_000);
	expect(engine.downloads).toEqual([download]);
	expect(asked).toBe(5);
	status = { ...READY, downloads: [{ ...download, num_done_bytes: 9 }] };
	await vi.advanceTimersByTimeAsync(20_000);
	end();

	expect(engine.downloads).toEqual([]);
	expect(asked).toBe(6);
});

test('a server that is away is noticed, and noticed again when it is back', async () => {
	status = null;
	const engine = new Engine(api);
	const end = engine.watch();
	await vi.advanceTimersByTimeAsync(100);
	expect(engine.isReachable).toBe(false);
	status = READY;
	await vi.advanceTimersByTimeAsync(2_000);
	end();

	expect(engine.isReachable).toBe(true);
});
