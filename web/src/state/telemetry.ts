/**
 * Telemetry: the latency of answers and the errors of the page. Numbers and names only, never a
 * person's text. Nothing waits for it.
 */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { PageError, PageLatency, TelemetryReply } from '$/api/wire';
import { sumUsage } from '$/state/messageTree';
import type { Turn } from '$/turn/turn.svelte';

type TelemetryApi = Pick<Api, 'reportLatency' | 'reportErrors'>;
type TimedTurn = Pick<Turn, 'timing' | 'messages'>;

const MAX_ERRORS = 10;
const MAX_COUNT = 1_000;
const BATCH_MS = 2_000;
/** The least time between two error reports. */
const INTERVAL_MS = 30_000;

const ERROR_NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,47}$/;
/** Not an error: sizes changed again while they were told, and the rest is told a frame later. */
const RESIZE_NOTICE = 'ResizeObserver loop';
/** A line of a stack trace, not the error's message. */
const STACK_LINE = /^(?:\s+at\s|\S*@http)/;
/** The file and line in a stack trace. */
const FILE_AND_LINE = /https?:\/\/\S*?\/([\w$.-]{1,96}\.(?:js|ts|svelte))\S*?:(\d{1,7}):\d/;

export class Telemetry {
	#api: TelemetryApi;
	/** The person's preference. */
	#isAllowed: () => boolean;
	/** The server has telemetry off. */
	#isOff = false;
	#reported = new WeakSet<TimedTurn>();
	#errors = new Map<string, Required<PageError>>();
	#timer: ReturnType<typeof setTimeout> | null = null;
	#reportedAt = -INTERVAL_MS;

	constructor(api: TelemetryApi, isAllowed: () => boolean) {
		this.#api = api;
		this.#isAllowed = isAllowed;
	}

	/** Reports the latency of a turn that was sent from this page, once. */
	reportTurn(turn: TimedTurn): void {
		const latency = measureLatency(turn);
		if (latency === null || this.#reported.has(turn)) return;
		this.#reported.add(turn);
		if (this.#isOn) void this.#post(this.#api.reportLatency(latency));
	}

	/** Reports an error that the page has recovered from. */
	reportRecovered(name: string): void {
		this.#add(Object.assign(new Error(), { name }), '');
	}

	/** Collects uncaught errors until the signal aborts. */
	watch(signal: AbortSignal): void {
		addEventListener(
			'error',
			({ error, message, filename, lineno }) => {
				if (!message.startsWith(RESIZE_NOTICE)) this.#add(error, `${filename}:${lineno}:0`);
			},
			{ signal }
		);
		addEventListener('unhandledrejection', ({ reason }) => this.#add(reason, ''), { signal });
		signal.addEventListener('abort', () => this.#timer !== null && clearTimeout(this.#timer));
	}

	get #isOn(): boolean {
		return !this.#isOff && this.#isAllowed();
	}

	#add(error: unknown, place: string): void {
		if (!this.#isOn) return;
		const { name, where, line } = anonymize(error, place);
		const key = `${name} ${where} ${line}`;
		const count = Math.min((this.#errors.get(key)?.count ?? 0) + 1, MAX_COUNT);
		if (count > 1 || this.#errors.size < MAX_ERRORS) {
			this.#errors.set(key, { name, where, line, count });
		}
		const waitMs = Math.max(BATCH_MS, this.#reportedAt + INTERVAL_MS - performance.now());
		this.#timer ??= setTimeout(() => this.#reportErrors(), waitMs);
	}

	#reportErrors(): void {
		const errors = [...this.#errors.values()];
		this.#errors.clear();
		this.#timer = null;
		this.#reportedAt = performance.now();
		if (this.#isOn) void this.#post(this.#api.reportErrors(errors));
	}

	async #post(request: Promise<TelemetryReply>): Promise<void> {
		try {
			this.#isOff = (await request).status === 'off';
		} catch (error) {
			toFailure(error);
		}
	}
}

export function measureLatency({ timing, messages }: TimedTurn): PageLatency | null {
	const model = messages.findLast(({ metadata }) => metadata.model_slug)?.metadata.model_slug;
	const usage = sumUsage(messages.flatMap(({ metadata }) => metadata.usage ?? []));
	const { firstTokenMs, totalMs, gaps } = timing;
	if (model === undefined || firstTokenMs === null || totalMs === null) return null;
	const percentile = (share: number) => gaps[Math.ceil(share * gaps.length) - 1] ?? null;
	return {
		model,
		count_tokens: usage?.num_output_tokens ?? timing.numChunks,
		ts_first_token_ms: firstTokenMs,
		ts_total_request_ms: totalMs,
		ts_min: gaps[0] ?? null,
		ts_mean: gaps.length === 0 ? null : gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length,
		ts_median: percentile(0.5),
		ts_p95: percentile(0.95),
		ts_p99: percentile(0.99),
		ts_max_token_time_ms: gaps.at(-1) ?? null
	};
}

/** The name of an error and its place. Its message may contain a person's text. */
function anonymize(error: unknown, place: string): Required<Omit<PageError, 'count'>> {
	const { name = '', stack = '' } = error instanceof Error ? error : {};
	const stackLines = stack.split('\n').filter((text) => STACK_LINE.test(text));
	const ours = [place, ...stackLines].filter((text) => text.includes(`${location.origin}/`));
	const [, where = 'page', line = '0'] =
		ours.map((text) => FILE_AND_LINE.exec(text)).find(Boolean) ?? [];
	return { name: ERROR_NAME.test(name) ? name : 'Error', where, line: Number(line) };
}
