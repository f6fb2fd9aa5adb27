/**
 * What the page tells the server of itself: how fast an answer came, and what broke. Numbers and
 * names alone, never what somebody wrote; nothing waits for it, and nothing depends on it.
 */
import { failureOf, type Api } from '$/api/client';
import type { Heard, Latency, PageError } from '$/api/wire';
import type { Turn } from '$/turn/turn.svelte';

type Door = Pick<Api, 'tellLatency' | 'tellErrors'>;
type Measured = Pick<Turn, 'pulse' | 'answer'>;

const MAX_ERRORS = 10;
const MAX_COUNT = 1_000;
const SOON_MS = 2_000;
/** Between one report of errors and the next. */
const REST_MS = 30_000;

const NAME = /^[A-Za-z_$][A-Za-z0-9_$]{0,47}$/;
/** Where somebody was, as the browsers write it into a stack; not what the error says. */
const FRAME = /^(?:\s+at\s|\S*@http)/;
/** A file and a line. */
const PLACE = /https?:\/\/\S*?\/([\w$.-]{1,96}\.(?:js|ts|svelte))\S*?:(\d{1,7}):\d/;

export class Beacon {
	#door: Door;
	#isWanted: () => boolean;
	/** The server wants to hear nothing. */
	#isOff = false;
	#told = new WeakSet<Measured>();
	#errors = new Map<string, Required<PageError>>();
	#timer: ReturnType<typeof setTimeout> | null = null;
	#reportedAt = -REST_MS;

	constructor(door: Door, isWanted: () => boolean) {
		this.#door = door;
		this.#isWanted = isWanted;
	}

	/** Once for each answer that was sent for here. */
	tellTurn(turn: Measured): void {
		const latency = latencyOf(turn);
		if (latency === null || this.#told.has(turn)) return;
		this.#told.add(turn);
		if (this.#isOpen) void this.#heard(this.#door.tellLatency(latency));
	}

	/** Something went wrong that the page has mended by itself. */
	tellMended(name: string): void {
		this.#note(Object.assign(new Error(), { name }), '');
	}

	/** Listens for what breaks in the page, until `left`. */
	watch(left: AbortSignal): void {
		addEventListener(
			'error',
			({ error, filename, lineno }) => this.#note(error, `${filename}:${lineno}:0`),
			{ signal: left }
		);
		addEventListener('unhandledrejection', ({ reason }) => this.#note(reason, ''), {
			signal: left
		});
		left.addEventListener('abort', () => this.#timer !== null && clearTimeout(this.#timer));
	}

	get #isOpen(): boolean {
		return !this.#isOff && this.#isWanted();
	}

	#note(error: unknown, place: string): void {
		if (!this.#isOpen) return;
		const { name, where, line } = nameOf(error, place);
		const key = `${name} ${where} ${line}`;
		const count = Math.min((this.#errors.get(key)?.count ?? 0) + 1, MAX_COUNT);
		if (count > 1 || this.#errors.size < MAX_ERRORS) {
			this.#errors.set(key, { name, where, line, count });
		}
		const restMs = Math.max(SOON_MS, this.#reportedAt + REST_MS - performance.now());
		this.#timer ??= setTimeout(() => this.#report(), restMs);
	}

	#report(): void {
		const errors = [...this.#errors.values()];
		this.#errors.clear();
		this.#timer = null;
		this.#reportedAt = performance.now();
		if (this.#isOpen) void this.#heard(this.#door.tellErrors(errors));
	}

	async #heard(telling: Promise<Heard>): Promise<void> {
		try {
			this.#isOff = (await telling).status === 'off';
		} catch (error) {
			failureOf(error);
		}
	}
}

export function latencyOf({ pulse, answer }: Measured): Latency | null {
	const model = answer?.metadata.model_slug;
	const { firstMs, wholeMs, gaps } = pulse;
	if (model === undefined || firstMs === null || wholeMs === null) return null;
	const at = (share: number) => gaps[Math.ceil(share * gaps.length) - 1] ?? null;
	return {
		model,
		count_tokens: answer?.metadata.usage?.num_output_tokens ?? pulse.numBeats,
		ts_first_token_ms: firstMs,
		ts_total_request_ms: wholeMs,
		ts_min: gaps[0] ?? null,
		ts_mean: gaps.length === 0 ? null : gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length,
		ts_median: at(0.5),
		ts_p95: at(0.95),
		ts_p99: at(0.99),
		ts_max_token_time_ms: gaps.at(-1) ?? null
	};
}

/** What kind of thing broke, and in which file. What it says may hold somebody's words. */
function nameOf(error: unknown, place: string): Required<Omit<PageError, 'count'>> {
	const { name = '', stack = '' } = error instanceof Error ? error : {};
	const frames = stack.split('\n').filter((text) => FRAME.test(text));
	const ours = [place, ...frames].filter((text) => text.includes(`${location.origin}/`));
	const [, where = 'page', line = '0'] = ours.map((text) => PLACE.exec(text)).find(Boolean) ?? [];
	return { name: NAME.test(name) ? name : 'Error', where, line: Number(line) };
}
