/**
 * One turn, seen from the browser. Read this file first.
 *
 *     send or come back -> frame -> delta -> message -> Svelte draws
 *
 * Sending and coming back to a running turn are the same thing: read the turn's stream from
 * the last event we have, over whichever way is open (`ways.ts`). A message the server may not
 * have heard is sent again, and is said once; a connection that drops is followed again,
 * quietly; only the server ends a turn. Deltas are applied as they come and drawn once per
 * animation frame. After the answer a title may follow: it is listened for, and not waited for.
 */
import { ApiError, failureOf, Unreachable } from '$/api/client';
import { backOff, type Pause } from '$/api/pause';
import { Dropped, type Frame } from '$/api/stream';
import type { Failure, Message, SideEvent } from '$/api/wire';
import { hearOut } from '$/turn/afterword';
import { BadDelta } from '$/turn/delta';
import { isWhole } from '$/turn/proof';
import { Pulse } from '$/turn/pulse';
import { Reading } from '$/turn/reading';
import { retryAfter, waitAskedBy, type Retry } from '$/turn/retry';
import { Stopping } from '$/turn/stopping.svelte';
import { framesIn, Ways, type Door, type Start } from '$/turn/ways';

/**
 * `whole`: we have it all. `unsent`: the server did not take the message, or was stopped before
 * it could say so. `stored`: it is over, and no longer streamed. `differs`: what we put together
 * is not what is stored. `doubtful`: it may not be. `cut`: stopped here, while the server could
 * not be told. `left`: nobody looks.
 */
export type Outcome = 'whole' | 'unsent' | 'stored' | 'differs' | 'doubtful' | 'cut' | 'left';

/** Why the answer has not begun, as the server said last. */
export interface Delay {
	reason: 'queue' | 'loading';
	numAhead: number;
}

/** A connection that comes back sooner was never missed. */
const UNNOTICED_MS = 1_500;

export class Turn {
	id = $state<string | null>(null);
	conversationId = $state<string | null>(null);
	messages = $state.raw<Message[]>([]);
	title = $state<string | null>(null);
	failure = $state.raw<Failure | null>(null);
	delay = $state.raw<Delay | null>(null);
	/** The message was not taken, and is sent again by itself. */
	retry = $state.raw<Retry | null>(null);
	/** What reading ahead has spared, by the server's account. */
	savedMs = $state<number | null>(null);
	isRunning = $state(true);
	isReconnecting = $state(false);

	/** Changes only when a message is added, not with every word. */
	messageIds = $derived(this.messages.map((message) => message.id).join(' '));
	answer = $derived(this.messages.find((message) => message.author.role === 'assistant') ?? null);

	/** When it was begun here, and when words came last. In Unix milliseconds. */
	readonly beganAt = Date.now();
	heardAt = $state.raw(this.beganAt);
	readonly pulse: Pulse;
	#tellTaken: (isTaken: boolean) => void = () => undefined;
	/** Whether the server took the message, as soon as that is known. */
	readonly taken = new Promise<boolean>((tell) => (this.#tellTaken = tell));

	#door: Door;
	#start: Start;
	#ways: Ways;
	#pause: Pause;
	#running: Promise<Outcome> | null = null;
	/** Aborted when nobody reads on. The message that is being posted arrives nonetheless. */
	#left = new AbortController();
	#post = new AbortController();
	#reading = new Reading((event) => this.#note(event));
	#stopping: Stopping;
	#missing: ReturnType<typeof setTimeout> | undefined;
	#drawing: number | null = null;

	constructor(door: Door, start: Start, pause: Pause = backOff) {
		this.#door = door;
		this.#start = start;
		this.pulse = new Pulse('body' in start);
		this.#ways = new Ways(door);
		this.#stopping = new Stopping(door, this);
		this.#pause = pause;
		if ('body' in start) {
			this.conversationId = start.body.conversation_id ?? null;
		} else {
			this.id = start.turnId;
			this.conversationId = start.conversationId;
		}
	}

	get isStopping(): boolean {
		return this.#stopping.isAsked;
	}
	/** Stopped here, without the server. */
	get isCut(): boolean {
		return this.#stopping.isCut;
	}

	/** Reads it to the end of its answer, once, however many ask. */
	run(): Promise<Outcome> {
		this.#running ??= this.#run();
		return this.#running;
	}

	/** Asks the server to end the turn. What was said is kept, and the stream says so. */
	stop(): void {
		this.#stopping.ask();
	}

	/** Stops looking. The turn goes on without us. */
	leave(): void {
		this.#left.abort();
		if (this.id !== null) this.#post.abort();
	}

	/** Stops looking, and does not even wait until the server has the message. */
	abandon(): void {
		this.#left.abort();
		this.#post.abort();
	}

	async #run(): Promise<Outcome> {
		const over = new AbortController();
		const { signal } = over;
		document.addEventListener('visibilitychange', () => this.#stepAside(), { signal });
		// Nothing comes over a connection of another network any more.
		addEventListener('online', () => this.#hangUp(), { signal });
		try {
			return await this.#readToTheEnd();
		} finally {
			over.abort();
			this.#tellTaken(this.id !== null);
			this.#draw();
			this.#found();
			this.isRunning = false;
		}
	}

	async #readToTheEnd(): Promise<Outcome> {
		for (let numTries = 1; ; numTries++) {
			const before = this.#reading.seq;
			let askedMs: number | null;
			try {
				await this.#read();
				return await this.#verdict();
			} catch (error) {
				const outcome = this.id === null ? this.#refused(error, numTries) : this.#dropped(error);
				if (outcome !== null) return outcome;
				askedMs = waitAskedBy(error);
			}
			if (this.#reading.seq > before) numTries = 1;
			const { signal } = this.id === null ? this.#post : this.#left;
			await this.#pause(numTries - 1, signal, askedMs);
			this.retry = null;
		}
	}

	/** Until the answer is complete. */
	async #read(): Promise<void> {
		const frames = await this.#frames();
		let isHandedOn = false;
		try {
			while (!isHandedOn) {
				const { done, value: frame } = await frames.next();
				if (done === true) throw new Dropped('The stream ended before it was done.');
				this.#found();
				if (frame.data === '[DONE]') return;
				this.#take(frame);
				isHandedOn = this.#reading.proofs !== null;
			}
			void this.#hearOut(frames);
		} finally {
			// Or its connection would stay open, although nobody reads it.
			if (!isHandedOn) await frames.return(undefined);
		}
	}

	async #frames(): Promise<AsyncGenerator<Frame>> {
		if (this.id !== null || !('body' in this.#start)) {
			const spot = { turnId: this.id ?? '', conversationId: this.conversationId };
			return this.#ways.comeBack({ ...spot, offset: this.#reading.seq }, this.#left.signal);
		}
		const { body, key = null } = this.#start;
		const response = await this.#door.send(body, this.#post.signal, key);
		this.id = response.headers.get('x-turn-exchange-id');
		// Whoever names no turn is not our server.
		if (this.id === null) throw new Unreachable();
		this.#tellTaken(true);
		if (this.#left.signal.aborted) this.#post.abort();
		this.#stepAside();
		return framesIn(response);
	}

	/** Where nobody looks, the socket brings the rest: all tabs share a browser's few connections. */
	#stepAside(): void {
		const isUnseen = document.visibilityState === 'hidden';
		if (isUnseen && this.#ways.canUseSocket) this.#hangUp();
	}

	/** Gives up the connection of its own, and comes back. A message is brought to its end first. */
	#hangUp(): void {
		if (this.id === null) return;
		this.#post.abort();
		this.#ways.hangUp();
	}

	/** A title or a suggestion may come after the answer. Nothing is missing if it does not. */
	async #hearOut(frames: AsyncGenerator<Frame>): Promise<void> {
		const { topics, expectsSuggestions = false } = this.#door;
		const isToldAnyway = topics?.isOpen === true && !expectsSuggestions;
		try {
			await hearOut(frames, isToldAnyway, {
				take: (frame) => this.#take(frame),
				leave: () => this.leave()
			});
		} catch (error) {
			if (!isDrop(error)) throw error;
		}
	}

	#take(frame: Frame): void {
		if (!this.#reading.take(frame)) return;
		this.heardAt = Date.now();
		this.pulse.hear(this.#reading.numChars);
		this.#drawing ??= requestAnimationFrame(() => this.#draw());
	}

	#note(event: SideEvent): void {
		switch (event.type) {
			case 'resume_conversation_token':
				this.#ways.token = event.token;
				this.conversationId ??= event.conversation_id;
				break;
			case 'title_generation':
				// Read after the fact, the first may have been changed since.
				if (event.revision > 1 || 'body' in this.#start) this.title = event.title;
				break;
			case 'server_ste_metadata':
				if (event.metadata.conduit_prewarmed) this.savedMs = event.metadata.saved_ms ?? null;
				break;
			case 'answer_delayed':
				this.delay = { reason: event.reason, numAhead: event.num_ahead };
				break;
			case 'error':
				this.failure = event.error;
				break;
		}
	}

	#draw(): void {
		if (this.#drawing !== null) cancelAnimationFrame(this.#drawing);
		this.#drawing = null;
		this.messages = this.#reading.messages;
		this.conversationId ??= this.#reading.conversationId;
		this.#stopping.goOn();
	}

	async #verdict(): Promise<Outcome> {
		this.#draw();
		const { proofs } = this.#reading;
		if (proofs === null) return 'doubtful';
		return (await isWhole(this.messages, proofs)) ? 'whole' : 'differs';
	}

	/** The message did not arrive, as far as we know. An outcome, unless it is sent again. */
	#refused(error: unknown, numTries: number): Outcome | null {
		if (this.#post.signal.aborted) return 'unsent';
		const isKept = 'body' in this.#start && this.#start.key === undefined;
		this.retry = retryAfter(error, numTries, isKept);
		if (this.retry !== null) return null;
		this.failure = failureOf(error);
		return 'unsent';
	}

	/** The line is lost, or was never there. An outcome, unless it is looked for again. */
	#dropped(error: unknown): Outcome | null {
		if (this.#left.signal.aborted) return this.isCut ? 'cut' : 'left';
		if (!isDrop(error)) throw error;
		this.#missing ??= setTimeout(() => (this.isReconnecting = true), UNNOTICED_MS);
		if (error instanceof BadDelta) return this.#reading.startOver() ? null : 'doubtful';
		if (!(error instanceof ApiError) || error.mayPass) return null;
		if (error.status === 410) return 'stored';
		if (error.status !== 401 || this.#ways.token === null) return 'doubtful';
		this.#ways.token = null;
		return null;
	}

	#found(): void {
		clearTimeout(this.#missing);
		this.#missing = undefined;
		this.isReconnecting = false;
	}
}

/** After these the turn is followed again. Whatever else is thrown is a bug of ours. */
const DROPS = [Dropped, Unreachable, BadDelta, ApiError];

function isDrop(error: unknown): boolean {
	return DROPS.some((drop) => error instanceof drop);
}
