/** The code blocks of answers that the person has run. Rows that scroll out of view keep their output. */
import { SvelteMap } from 'svelte/reactivity';
import type { Api } from '$/api/client';
import { ApiError, toFailure, Unreachable } from '$/api/http';
import { Dropped, readFrames } from '$/api/stream';
import type { CodePrinted, CodeResult, ErrorBody, Failure } from '$/api/wire';

export class CodeRun {
	isRunning = $state(true);
	/** What it has printed so far. */
	printed = $state('');
	result = $state.raw<CodeResult | null>(null);
	problem = $state.raw<Failure | null>(null);
	readonly startedAt = Date.now();
	#abort = new AbortController();

	get output(): string {
		return this.result?.output ?? this.printed;
	}

	get isStopped(): boolean {
		return !this.isRunning && this.result === null && this.problem === null;
	}

	async run(send: (signal: AbortSignal) => Promise<Response>): Promise<void> {
		const { signal } = this.#abort;
		try {
			const response = await send(signal);
			this.result = await readRun(response, (text) => (this.printed += text));
		} catch (error) {
			if (!signal.aborted) this.problem = toFailure(error);
		} finally {
			this.isRunning = false;
		}
	}

	stop(): void {
		this.#abort.abort();
	}
}

const PYTHON = ['python', 'python3', 'py', 'py3'];

export class CodeRuns {
	#api: Pick<Api, 'runCode'>;
	#conversationId: () => string | null;
	#runs = new SvelteMap<string, CodeRun>();

	constructor(api: Pick<Api, 'runCode'>, conversationId: () => string | null) {
		this.#api = api;
		this.#conversationId = conversationId;
	}

	canRun(language: string): boolean {
		return this.#conversationId() !== null && PYTHON.includes(language.toLowerCase());
	}

	/** The last run of this code in the answer, or null. */
	find(answerId: string, code: string): CodeRun | null {
		return this.#runs.get(toKey(answerId, code)) ?? null;
	}

	async run(answerId: string, code: string): Promise<void> {
		const conversationId = this.#conversationId();
		if (conversationId === null) return;
		this.find(answerId, code)?.stop();
		const run = new CodeRun();
		this.#runs.set(toKey(answerId, code), run);
		const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
		await run.run((signal) => this.#api.runCode(conversationId, answerId, code, timeZone, signal));
	}

	/** Stops the program if it runs, and hides its output. */
	remove(answerId: string, code: string): void {
		this.find(answerId, code)?.stop();
		this.#runs.delete(toKey(answerId, code));
	}

	stopAll(): void {
		for (const run of this.#runs.values()) run.stop();
	}
}

const toKey = (answerId: string, code: string) => `${answerId}\n${code}`;

/** Reads what a program prints as it prints it, and how it ended. The result has all of its output. */
async function readRun(response: Response, onprint: (text: string) => void): Promise<CodeResult> {
	if (response.body === null) throw new Unreachable();
	try {
		for await (const { event, data } of readFrames(response.body)) {
			if (event === 'printed') onprint((JSON.parse(data) as CodePrinted).text);
			else if (event === 'result') return JSON.parse(data) as CodeResult;
			else if (event === 'error') throw toError((JSON.parse(data) as ErrorBody).error);
		}
	} catch (error) {
		if (error instanceof Dropped) throw new Unreachable();
		throw error;
	}
	throw new Unreachable();
}

const toError = ({ message, code, param }: ErrorBody['error']) =>
	new ApiError(message, 503, code ?? null, param ?? null);
