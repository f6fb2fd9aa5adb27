// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Unreachable } from '$/api/http';
import type { Message, PageError, PageLatency, TelemetryReply } from '$/api/wire';
import { Telemetry } from '$/state/telemetry';
import { TokenTiming } from '$/turn/tokenTiming';

const SECRET = 'a secret that somebody wrote';

let latencies: PageLatency[] = [];
let errors: PageError[][] = [];
let respond: () => Promise<TelemetryReply>;
let isAllowed = true;
let closing = new AbortController();
let telemetry: Telemetry;

beforeEach(() => {
	vi.useFakeTimers();
	latencies = [];
	errors = [];
	respond = () => Promise.resolve({ status: 'success' });
	isAllowed = true;
	closing = new AbortController();
	telemetry = new Telemetry(
		{
			reportLatency: (latency) => (latencies.push(latency), respond()),
			reportErrors: (batch) => (errors.push(batch), respond())
		},
		() => isAllowed
	);
	telemetry.watch(closing.signal);
});
afterEach(() => {
	closing.abort();
	vi.useRealTimers();
});

function endedTurn(wasSentHere = true) {
	const timing = new TokenTiming(wasSentHere, 1_000);
	[1_200, 1_210, 1_230, 1_270].forEach((at, i) => timing.record(i + 1, at));
	timing.record(4, 9_999);
	const metadata = { model_slug: 'm', usage: { num_output_tokens: 4 } };
	const answer = { content: { parts: [SECRET] }, metadata } as unknown as Message;
	return { timing, messages: [answer] };
}
const urlOf = (file: string) => `${location.origin}/assets/${file}`;
async function raiseError(error: unknown, filename = urlOf('page-1a2.js')): Promise<void> {
	dispatchEvent(new ErrorEvent('error', { error, filename, lineno: 12, message: SECRET }));
	await vi.advanceTimersByTimeAsync(0);
}

test('the latency of an answer is reported once', () => {
	const ended = endedTurn();
	telemetry.reportTurn(ended);
	telemetry.reportTurn(ended);

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

test('an answer that was only followed, or has no text, is not reported', () => {
	telemetry.reportTurn(endedTurn(false));
	telemetry.reportTurn({ ...endedTurn(), timing: new TokenTiming(true) });

	expect(latencies).toEqual([]);
});

test('errors are reported together, by name, file and line, without their messages', async () => {
	await raiseError(new TypeError(SECRET));
	await raiseError(new TypeError(SECRET));
	const rejected = new RangeError(SECRET);
	rejected.stack = `RangeError: ${SECRET}\n    at f (${urlOf('ground-9.js')}:3:44)`;
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

test('an unusual error name is replaced, so that it reveals nothing', async () => {
	const named = new Error('x');
	named.name = SECRET;
	named.stack = `${SECRET}: x`;
	await raiseError(named, `blob:${SECRET}`);
	await raiseError(SECRET, '');
	await vi.advanceTimersByTimeAsync(2_000);

	expect(errors).toEqual([[{ name: 'Error', where: 'page', line: 0, count: 2 }]]);
	expect(JSON.stringify(errors)).not.toContain('secret');
});

test.each([
	(place: string) => `Error: ${place}\n    at f (${urlOf('ours-1.js')}:7:1)`,
	(place: string) => `f@chrome-extension://${place}\nasync*f@${urlOf('ours-1.js')}:7:1`,
	(place: string) => `Error: see\n${place}\n    at new F (${urlOf('ours-1.js')}:7:1)`
])('a file named in an error message is not taken for the place of the error', async (stack) => {
	const failed = new Error('x');
	failed.stack = stack(urlOf('a-secret.js:1:2'));
	await raiseError(failed, '');
	failed.stack = stack('https://elsewhere/a-secret.js:1:2');
	await raiseError(failed, 'https://elsewhere/a-secret.js');
	await vi.advanceTimersByTimeAsync(2_000);

	expect(errors).toEqual([[{ name: 'Error', where: 'ours-1.js', line: 7, count: 2 }]]);
});

test('a notice of the browser about sizes is no error', async () => {
	const message = 'ResizeObserver loop completed with undelivered notifications.';
	dispatchEvent(new ErrorEvent('error', { message, filename: location.href }));
	await vi.advanceTimersByTimeAsync(2_000);

	expect(errors).toEqual([]);
});

test('the rounds of an answer with tools are one answer', () => {
	const { timing, messages } = endedTurn();
	const tool = { author: { role: 'tool' }, metadata: {} } as unknown as Message;
	telemetry.reportTurn({ timing, messages: [...messages, tool, ...messages] });

	expect(latencies).toMatchObject([{ model: 'm', count_tokens: 8 }]);
});

test('at most ten errors are reported in half a minute', async () => {
	for (let i = 0; i < 40; i++) await raiseError(new Error('x'), urlOf(`file${i}.js`));
	await vi.advanceTimersByTimeAsync(2_000);
	await raiseError(new Error('x'));
	await vi.advanceTimersByTimeAsync(29_000);
	expect(errors.map(({ length }) => length)).toEqual([10]);
	await vi.advanceTimersByTimeAsync(1_000);

	expect(errors.map(({ length }) => length)).toEqual([10, 1]);
});

test('nothing is reported if the server or the person has turned telemetry off', async () => {
	isAllowed = false;
	telemetry.reportTurn(endedTurn());
	expect(latencies).toEqual([]);
	isAllowed = true;
	respond = () => Promise.resolve({ status: 'off' });
	telemetry.reportTurn(endedTurn());
	await vi.advanceTimersByTimeAsync(0);
	telemetry.reportTurn(endedTurn());
	await raiseError(new Error('x'));
	await vi.advanceTimersByTimeAsync(60_000);

	expect(latencies).toHaveLength(1);
	expect(errors).toEqual([]);
});

test('an unreachable server causes no error', async () => {
	respond = () => Promise.reject(new Unreachable());
	telemetry.reportTurn(endedTurn());
	await vi.advanceTimersByTimeAsync(0);

	expect(latencies).toHaveLength(1);
});
