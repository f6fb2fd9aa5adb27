// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Unreachable } from '$/api/client';
import type { Heard, Latency, Message, PageError } from '$/api/wire';
import { Beacon } from '$/state/beacon';
import { Pulse } from '$/turn/pulse';

const SECRET = 'a secret that somebody wrote';

let latencies: Latency[] = [];
let errors: PageError[][] = [];
let heard: () => Promise<Heard>;
let isWanted = true;
let left = new AbortController();
let beacon: Beacon;

beforeEach(() => {
	vi.useFakeTimers();
	latencies = [];
	errors = [];
	heard = () => Promise.resolve({ status: 'success' });
	isWanted = true;
	left = new AbortController();
	beacon = new Beacon(
		{
			tellLatency: (latency) => (latencies.push(latency), heard()),
			tellErrors: (told) => (errors.push(told), heard())
		},
		() => isWanted
	);
	beacon.watch(left.signal);
});
afterEach(() => {
	left.abort();
	vi.useRealTimers();
});

function turn(isSent = true) {
	const pulse = new Pulse(isSent, 1_000);
	[1_200, 1_210, 1_230, 1_270].forEach((at, i) => pulse.hear(i + 1, at));
	pulse.hear(4, 9_999);
	const metadata = { model_slug: 'm', usage: { num_output_tokens: 4 } };
	const answer = { content: { parts: [SECRET] }, metadata } as unknown as Message;
	return { pulse, answer };
}
const at = (file: string) => `${location.origin}/assets/${file}`;
async function fail(error: unknown, filename = at('page-1a2.js')): Promise<void> {
	dispatchEvent(new ErrorEvent('error', { error, filename, lineno: 12, message: SECRET }));
	await vi.advanceTimersByTimeAsync(0);
}

test('an answer is told of once, in numbers', () => {
	const ended = turn();
	beacon.tellTurn(ended);
	beacon.tellTurn(ended);

	expect(latencies).toEqual([
		{
			model: 'm',
			count_tokens: 4,
			ts_first_token_ms: 200,
			ts_total_request_ms: 270,
			ts_min: 10,
			ts_mean: 70 / 3,
			ts_median: 20,
			ts_p95: 40,
			ts_p99: 40,
			ts_max_token_time_ms: 40
		}
	]);
});

test('one that was only followed, or had no words, is not', () => {
	beacon.tellTurn(turn(false));
	beacon.tellTurn({ ...turn(), pulse: new Pulse(true) });

	expect(latencies).toEqual([]);
});

test('errors are told by name, file and line, together, and never what they say', async () => {
	await fail(new TypeError(SECRET));
	await fail(new TypeError(SECRET));
	const rejected = new RangeError(SECRET);
	rejected.stack = `RangeError: ${SECRET}\n    at f (${at('ground-9.js')}:3:44)`;
	dispatchEvent(Object.assign(new Event('unhandledrejection'), { reason: rejected }));
	await vi.advanceTimersByTimeAsync(2_000);

	expect(errors).toEqual([
		[
			{ name: 'TypeError', where: 'page-1a2.js', line: 12, count: 2 },
			{ name: 'RangeError', where: 'ground-9.js', line: 3, count: 1 }
		]
	]);
	expect(JSON.stringify(errors)).not.toContain('secret');
});

test('whatever is thrown has a name that tells nothing', async () => {
	const named = new Error('x');
	named.name = SECRET;
	named.stack = `${SECRET}: x`;
	await fail(named, `blob:${SECRET}`);
	await fail(SECRET, '');
	await vi.advanceTimersByTimeAsync(2_000);

	expect(errors).toEqual([[{ name: 'Error', where: 'page', line: 0, count: 2 }]]);
	expect(JSON.stringify(errors)).not.toContain('secret');
});

test.each([
	(place: string) => `Error: ${place}\n    at f (${at('ours-1.js')}:7:1)`,
	(place: string) => `f@chrome-extension://${place}\nasync*f@${at('ours-1.js')}:7:1`,
	(place: string) => `Error: see\n${place}\n    at new F (${at('ours-1.js')}:7:1)`
])('a file that an error speaks of is not where it happened', async (stack) => {
	const failed = new Error('x');
	failed.stack = stack(at('a-secret.js:1:2'));
	await fail(failed, '');
	failed.stack = stack('https://elsewhere/a-secret.js:1:2');
	await fail(failed, 'https://elsewhere/a-secret.js');
	await vi.advanceTimersByTimeAsync(2_000);

	expect(errors).toEqual([[{ name: 'Error', where: 'ours-1.js', line: 7, count: 2 }]]);
});

test('a page that breaks all the time tells of ten things in half a minute', async () => {
	for (let i = 0; i < 40; i++) await fail(new Error('x'), at(`file${i}.js`));
	await vi.advanceTimersByTimeAsync(2_000);
	await fail(new Error('x'));
	await vi.advanceTimersByTimeAsync(29_000);
	expect(errors.map(({ length }) => length)).toEqual([10]);
	await vi.advanceTimersByTimeAsync(1_000);

	expect(errors.map(({ length }) => length)).toEqual([10, 1]);
});

test('nothing is told to a server that wants to hear nothing, nor against the will of the person', async () => {
	isWanted = false;
	beacon.tellTurn(turn());
	expect(latencies).toEqual([]);
	isWanted = true;
	heard = () => Promise.resolve({ status: 'off' });
	beacon.tellTurn(turn());
	await vi.advanceTimersByTimeAsync(0);
	beacon.tellTurn(turn());
	await fail(new Error('x'));
	await vi.advanceTimersByTimeAsync(60_000);

	expect(latencies).toHaveLength(1);
	expect(errors).toEqual([]);
});

test('a server that cannot be reached is not missed', async () => {
	heard = () => Promise.reject(new Unreachable());
	beacon.tellTurn(turn());
	await vi.advanceTimersByTimeAsync(0);

	expect(latencies).toHaveLength(1);
});
