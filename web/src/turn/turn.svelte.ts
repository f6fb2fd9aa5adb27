/**
 * One turn, seen from the browser. Read this file first.
 *
 *     send or resume -> frame -> delta -> message -> Svelte draws
 *
 * Sending a message and resuming a running turn work the same way: read the turn's stream after
 * the last event, over any open transport (`transports.ts`). A Send without an answer is sent
 * again, and the server accepts it once. A lost connection is resumed; only the server ends a
 * turn. Deltas are applied as they arrive and drawn once per animation frame. A title or a
 * suggested memory may follow the answer (`afterword.ts`).
 */
import { shortBackoff, type Backoff } from '$/api/backoff';
import { ApiError, toFailure, Unreachable } from '$/api/http';
import { Dropped, type Frame } from '$/api/stream';
import type { Failure, Message, SideEvent } from '$/api/wire';
import { matchesChecksums } from '$/turn/checksum';
import { readAfterword, readEnd } from '$/turn/afterword';
import { BadDelta } from '$/turn/delta';
import { FrameDecoder } from '$/turn/frameDecoder';
import { planRetry, getRetryAfterMs, type Retry } from '$/turn/sendRetry';
import { StopRequest } from '$/turn/stopRequest.svelte';
import { TokenTiming } from '$/turn/tokenTiming';
import {
	readResponse,
	Transports,
	type Position,
	type Start,
	type TurnApi
} from '$/turn/transports';

/**
 * How reading a turn ended.
 *
 * - `complete`: everything was read, and its checksums match.
 * - `unsent`: the server did not accept the message, or it was stopped before that was known.
 * - `stored`: the turn is over, and its stream is gone.
 * - `mismatch`: the text that was read is not the text that is stored.
 * - `uncertain`: the stream could not be read to its end.
 * - `stopped_locally`: stopped in this page while the server could not be told.
 * - `detached`: this page stopped reading.
 */
export type Outcome =
	'complete' | 'unsent' | 'stored' | 'mismatch' | 'uncertain' | 'stopped_locally' | 'detached';

/** Why the answer has not started yet. */
export interface Delay {
	reason: 'queue' | 'loading';
	numAhead: number;
}

/** A shorter interruption is not shown. */
const RECONNECTING_AFTER_MS = 1_500;

export class Turn {
	id = $state<string | null>(null);
	conversationId = $state<string | null>(null);
	messages = $state.raw<Message[]>([]);
	title = $state<string | null>(null);
	failure = $state.raw<Failure | null>(null);
	delay = $state.raw<Delay | null>(null);
	/** The Send failed, and will be sent again. */
	retry = $state.raw<Retry | null>(null);
	/** Time saved by prewarming, as the server reported it. */
	savedMs = $state<number | null>(null);
	isRunning = $state(true);
	isReconnecting = $state(false);

	/** Changes only when a message is added, not with its text. */
	messageIds = $derived(this.messages.map((message) => message.id).join(' '));
	/** The first message of the answer. */
	answer = $derived(this.messages.find(({ author }) => author.role !== 'user') ?? null);
	/** The newest message of the answer: a text that grows, or a tool that runs. */
	lastMessage = $derived(this.messages.findLast(({ author }) => author.role !== 'user') ?? null);

	/** When this page sent or resumed the turn, in Unix milliseconds. */
	readonly startedAt = Date.now();
	/** When text arrived last, in Unix milliseconds. */
	lastTextAt = $state.raw(this.startedAt);
	readonly timing: TokenTiming;
	#resolveAccepted: (isAccepted: boolean) => void = () => undefined;
	/** Resolves when it is known whether the server accepted the message. */
	readonly accepted = new Promise<boolean>((resolve) => (this.#resolveAccepted = resolve));

	#api: TurnApi;
	#start: Start;
	#transports: Transports;
	#backoff: Backoff;
	#running: Promise<Outcome> | null = null;
	/** Stops reading, but lets the Send itself reach the server. */
	#detached = new AbortController();
	#send = new AbortController();
	#decoder = new FrameDecoder((event) => this.#applySideEvent(event));
	#stopRequest: StopRequest;
	#reconnectingTimer: ReturnType<typeof setTimeout> | undefined;
	#animationFrame: number | null = null;
	/** The id of the Send in the server's log. */
	#requestId: string | null = null;

	constructor(api: TurnApi, start: Start, backoff: Backoff = shortBackoff) {
		this.#api = api;
		this.#start = start;
		this.timing = new TokenTiming('body' in start);
		this.#transports = new Transports(api);
		this.#stopRequest = new StopRequest(api, this);
		this.#backoff = backoff;
		if ('body' in start) {
			this.conversationId = start.body.conversation_id ?? null;
		} else {
			this.id = start.turnId;
			this.conversationId = start.conversationId;
		}
	}

	get isStopping(): boolean {
		return this.#stopRequest.isRequested;
	}
	/** Stopped in this page, without the server. */
	get isStoppedLocally(): boolean {
		return this.#stopRequest.isLocal;
	}

	/** Reads the turn to the end of its answer. Later calls return the same promise. */
	run(): Promise<Outcome> {
		this.#running ??= this.#run();
		return this.#running;
	}

	/** Asks the server to end the turn. The stream then reports the end; the text so far is kept. */
	stop(): void {
		this.#stopRequest.request();
	}

	/** Stops reading. The turn continues on the server. */
	detach(): void {
		this.#detached.abort();
		if (this.id !== null) this.#send.abort();
	}

	/** Stops reading, and aborts a Send that is still on its way. */
	abort(): void {
		this.#detached.abort();
		this.#send.abort();
	}

	async #run(): Promise<Outcome> {
		const done = new AbortController();
		const { signal } = done;
		document.addEventListener('visibilitychange', () => this.#moveToSocketIfHidden(), { signal });
		// After a change of network the old connection is dead.
		addEventListener('online', () => this.#reconnect(), { signal });
		try {
			return await this.#readUntilOutcome();
		} finally {
			done.abort();
			this.#resolveAccepted(this.id !== null);
			this.#draw();
			this.#markConnected();
			this.isRunning = false;
		}
	}

	async #readUntilOutcome(): Promise<Outcome> {
		for (let numTries = 1; ; numTries++) {
			const seqBefore = this.#decoder.seq;
			let waitMs: number | null;
			try {
				await this.#read();
				return await this.#verify();
			} catch (error) {
				const outcome =
					this.id === null ? this.#handleSendError(error, numTries) : this.#handleReadError(error);
				if (outcome !== null) return outcome;
				waitMs = getRetryAfterMs(error);
			}
			if (this.#decoder.seq > seqBefore) numTries = 1;
			const { signal } = this.id === null ? this.#send : this.#detached;
			await this.#backoff(numTries - 1, signal, waitMs);
			this.retry = null;
		}
	}

	/** Reads until the answer is complete. */
	async #read(): Promise<void> {
		const frames = await this.#openFrames();
		let isHandedOver = false;
		try {
			while (!isHandedOver) {
				const { done, value: frame } = await frames.next();
				if (done === true) throw new Dropped('The stream ended before it was done.');
				this.#markConnected();
				if (frame.data === '[DONE]') return;
				this.#receive(frame);
				isHandedOver = this.#decoder.checksums !== null;
			}
			void this.#readOn(frames);
		} finally {
			// Closes the connection, which would stay open without a reader.
			if (!isHandedOver) await frames.return(undefined);
		}
	}

	async #openFrames(): Promise<AsyncGenerator<Frame>> {
		if (this.id !== null || !('body' in this.#start)) {
			return this.#transports.resume(this.#position(), this.#detached.signal);
		}
		const { body, key = null } = this.#start;
		const response = await this.#api.send(body, this.#send.signal, key);
		this.id = response.headers.get('x-turn-exchange-id');
		// A response without a turn id is not from our server.
		if (this.id === null) throw new Unreachable();
		this.#resolveAccepted(true);
		if (this.#detached.signal.aborted) this.#send.abort();
		this.#moveToSocketIfHidden();
		return readResponse(response);
	}

	#position(): Position {
		const { conversationId } = this;
		return { turnId: this.id ?? '', conversationId, offset: this.#decoder.seq };
	}

	/** A hidden tab reads over the socket: all tabs share the browser's few HTTP connections. */
	#moveToSocketIfHidden(): void {
		const isHidden = document.visibilityState === 'hidden';
		if (isHidden && this.#transports.canUseSocket) this.#reconnect();
	}

	/** Closes the HTTP stream, which then is resumed. A Send on its way is not interrupted. */
	#reconnect(): void {
		if (this.id === null) return;
		this.#send.abort();
		this.#transports.closeHttp();
	}

	/** Reads what follows the answer. Losing it does no harm: it is stored. */
	async #readOn(frames: AsyncGenerator<Frame>): Promise<void> {
		const reader = { receive: (frame: Frame) => this.#receive(frame), stop: () => this.detach() };
		try {
			let rest = frames;
			if (!this.#transports.isOverSocket) {
				await readEnd(frames, reader);
				rest = this.#transports.followAfterword(this.#position(), this.#detached.signal);
			}
			if (!this.#decoder.hasAfterword) await rest.return(undefined);
			else await readAfterword(rest, reader, !this.#transports.isOverSocket);
		} catch (error) {
			if (!isConnectionError(error)) throw error;
		}
	}

	#receive(frame: Frame): void {
		if (!this.#decoder.decode(frame)) return;
		this.lastTextAt = Date.now();
		if (this.#decoder.isUsingTool) this.timing.pause();
		this.timing.record(this.#decoder.numChars);
		this.#animationFrame ??= requestAnimationFrame(() => this.#draw());
	}

	#applySideEvent(event: SideEvent): void {
		switch (event.type) {
			case 'resume_conversation_token':
				this.#transports.token = event.token;
				this.conversationId ??= event.conversation_id;
				break;
			case 'title_generation':
				// In a resumed turn, the first title may have been changed since.
				if (event.revision > 1 || 'body' in this.#start) this.title = event.title;
				break;
			case 'server_ste_metadata':
				if (event.metadata.conduit_prewarmed) this.savedMs = event.metadata.saved_ms ?? null;
				this.#requestId = event.metadata.request_id ?? null;
				break;
			case 'answer_delayed':
				this.delay = { reason: event.reason, numAhead: event.num_ahead };
				break;
			case 'error':
				this.failure = { ...event.error, requestId: this.#requestId };
				break;
		}
	}

	#draw(): void {
		if (this.#animationFrame !== null) cancelAnimationFrame(this.#animationFrame);
		this.#animationFrame = null;
		this.messages = this.#decoder.messages;
		this.conversationId ??= this.#decoder.conversationId;
		this.#stopRequest.send();
	}

	async #verify(): Promise<Outcome> {
		this.#draw();
		const { checksums } = this.#decoder;
		if (checksums === null) return 'uncertain';
		return (await matchesChecksums(this.messages, checksums)) ? 'complete' : 'mismatch';
	}

	/** The Send failed. Returns null if it is sent again. */
	#handleSendError(error: unknown, numTries: number): Outcome | null {
		if (this.#send.signal.aborted) return 'unsent';
		const isInOutbox = 'body' in this.#start && this.#start.key === undefined;
		this.retry = planRetry(error, numTries, isInOutbox);
		if (this.retry !== null) return null;
		this.failure = toFailure(error);
		return 'unsent';
	}

	/** The stream was lost. Returns null if it is resumed. */
	#handleReadError(error: unknown): Outcome | null {
		if (this.#detached.signal.aborted) {
			return this.isStoppedLocally ? 'stopped_locally' : 'detached';
		}
		if (!isConnectionError(error)) throw error;
		this.#reconnectingTimer ??= setTimeout(
			() => (this.isReconnecting = true),
			RECONNECTING_AFTER_MS
		);
		if (error instanceof BadDelta) return this.#decoder.restart() ? null : 'uncertain';
		if (!(error instanceof ApiError) || error.isTransient) return null;
		if (error.status === 410) return 'stored';
		if (error.status !== 401 || this.#transports.token === null) return 'uncertain';
		this.#transports.token = null;
		return null;
	}

	#markConnected(): void {
		clearTimeout(this.#reconnectingTimer);
		this.#reconnectingTimer = undefined;
		this.isReconnecting = false;
	}
}

/** The turn is resumed after these. Any other error is a bug. */
const CONNECTION_ERRORS = [Dropped, Unreachable, BadDelta, ApiError];

function isConnectionError(error: unknown): boolean {
	return CONNECTION_ERRORS.some((type) => error instanceof type);
}
