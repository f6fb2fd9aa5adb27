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
import { Dropped, type Frame } from '$/api/stream';
import type { Failure, Message, SideEvent } from '$/api/wire';
import { BadDelta, Decoder, type Delta } from '$/turn/delta';
import { backOff, type Pause } from '$/turn/pause';
import { isWhole, type Proof } from '$/turn/proof';
import { Pulse } from '$/turn/pulse';
import { retryAfter, type Retry } from '$/turn/retry';
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

/** How long the server may take to name a turn that is being stopped, or to hear of the stop. */
const PATIENCE_MS = 3_000;
/** A connection that comes back sooner was never missed. */
const UNNOTICED_MS = 1_500;
/** How long after an answer its title may come. */
const AFTERWORD_MS = 30_000;
/** A stream that reads wrong so often reads wrong for ever. */
const MAX_BAD_READINGS = 3;

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
	isStopping = $state(false);
	isReconnecting = $state(false);
	/** Stopped here, without the server. */
	isCut = $state(false);

	/** Changes only when a message is added, not with every word. */
	messageIds = $derived(this.messages.map((message) => message.id).join(' '));
	answer = $derived(this.messages.find((message) => message.author.role === 'assistant') ?? null);

	/** When it was begun here, and when words came last. In Unix milliseconds. */
	readonly beganAt = Date.now();
	heardAt = this.beganAt;
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
	#decoder = new Decoder();
	#seq = 0;
	/** What the server says of the whole text, with which the answer is complete. */
	#proofs: Proof[] | null = null;
	#numBad = 0;
	#stopTold = false;
	#missing: ReturnType<typeof setTimeout> | undefined;
	#drawing: number | null = null;

	constructor(door: Door, start: Start, pause: Pause = backOff) {
		this.#door = door;
		this.#start = start;
		this.pulse = new Pulse('body' in start);
		this.#ways = new Ways(door);
		this.#pause = pause;
		if ('body' in start) {
			this.conversationId = start.body.conversation_id ?? null;
		} else {
			this.id = start.turnId;
			this.conversationId = start.conversationId;
		}
	}

	/** Reads it to the end of its answer, once, however many ask. */
	run(): Promise<Outcome> {
		this.#running ??= this.#run();
		return this.#running;
	}

	/** Asks the server to end the turn. What was said is kept, and the stream says so. */
	stop(): void {
		this.isStopping = true;
		if (this.isReconnecting) return this.#cut();
		if (this.retry !== null) return this.#post.abort();
		this.#tellStop();
		if (this.id === null) setTimeout(() => this.id === null && this.#post.abort(), PATIENCE_MS);
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
		try {
			return await this.#readToTheEnd();
		} finally {
			this.#tellTaken(this.id !== null);
			this.#draw();
			this.#found();
			this.isRunning = false;
		}
	}

	async #readToTheEnd(): Promise<Outcome> {
		for (let numTries = 1; ; numTries++) {
			const before = this.#seq;
			try {
				await this.#read();
				return await this.#verdict();
			} catch (error) {
				const outcome = this.id === null ? this.#refused(error, numTries) : this.#dropped(error);
				if (outcome !== null) return outcome;
			}
			if (this.#seq > before) numTries = 1;
			const { signal } = this.id === null ? this.#post : this.#left;
			await this.#pause(numTries - 1, signal, this.retry?.asked?.ms);
			this.retry = null;
		}
	}

	/** Until the answer is complete. */
	async #read(): Promise<void> {
		const frames = await this.#frames();
		for (;;) {
			const { done, value: frame } = await frames.next();
			if (done === true) throw new Dropped('The stream ended before it was done.');
			this.#found();
			if (frame.data === '[DONE]') return;
			this.#take(frame);
			if (this.#proofs !== null) return void this.#hearOut(frames);
		}
	}

	async #frames(): Promise<AsyncGenerator<Frame>> {
		if (this.id !== null || !('body' in this.#start)) {
			const spot = { turnId: this.id ?? '', conversationId: this.conversationId };
			return this.#ways.comeBack({ ...spot, offset: this.#seq }, this.#left.signal);
		}
		const { body, key = null } = this.#start;
		const response = await this.#door.send(body, this.#post.signal, key);
		this.id = response.headers.get('x-turn-exchange-id');
		this.#tellTaken(this.id !== null);
		if (this.#left.signal.aborted) this.#post.abort();
		return framesIn(response);
	}

	/** A title may come after the answer. Nothing is missing if it does not. */
	async #hearOut(frames: AsyncGenerator<Frame>): Promise<void> {
		const enough = setTimeout(() => this.leave(), AFTERWORD_MS);
		try {
			for await (const frame of frames) {
				if (frame.data === '[DONE]') break;
				this.#take(frame);
			}
		} catch (error) {
			if (!isDrop(error)) throw error;
		}
		clearTimeout(enough);
	}

	#take(frame: Frame): void {
		if (frame.event === 'delta_encoding') {
			if (parsed(frame) !== 'v1') throw new BadDelta(`an encoding we do not know: ${frame.data}`);
		} else if (frame.event === 'delta') {
			this.#decoder.take(parsed(frame) as Delta);
			this.heardAt = Date.now();
			this.pulse.hear(numCharsOf(this.#decoder));
			this.#drawSoon();
		} else {
			this.#note(parsed(frame) as SideEvent);
		}
		this.#seq = frame.seq ?? this.#seq;
	}

	#note(event: SideEvent): void {
		switch (event.type) {
			case 'resume_conversation_token':
				this.#ways.token = event.token;
				this.conversationId ??= event.conversation_id;
				break;
			case 'title_generation':
				this.title = event.title;
				break;
			case 'stream_resumed':
				this.#decoder.carry = event.carry;
				break;
			case 'stream_snapshot':
				this.#decoder = Decoder.at(event.channels, event.carry);
				this.#seq = event.seq;
				this.#drawSoon();
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
			case 'message_stream_complete':
				this.#proofs = event.messages;
				break;
		}
	}

	#drawSoon(): void {
		this.#drawing ??= requestAnimationFrame(() => this.#draw());
	}

	#draw(): void {
		if (this.#drawing !== null) cancelAnimationFrame(this.#drawing);
		this.#drawing = null;
		const wrappers = [...this.#decoder.trees.values()] as unknown as Wrapper[];
		this.messages = wrappers.map((wrapper) => wrapper.message);
		this.conversationId ??= wrappers[0]?.conversation_id ?? null;
		if (this.isStopping) this.#tellStop();
	}

	async #verdict(): Promise<Outcome> {
		this.#draw();
		if (this.#proofs === null) return 'doubtful';
		return (await isWhole(this.messages, this.#proofs)) ? 'whole' : 'differs';
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
		if (error instanceof BadDelta) return this.#startOver();
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

	#startOver(): Outcome | null {
		this.#decoder = new Decoder();
		this.#seq = 0;
		return ++this.#numBad === MAX_BAD_READINGS ? 'doubtful' : null;
	}

	#tellStop(): void {
		if (this.#stopTold || this.id === null || this.conversationId === null) return;
		this.#stopTold = true;
		const patience = setTimeout(() => this.#cut(), PATIENCE_MS);
		this.#door
			.stop(this.conversationId, this.id)
			.catch((error: unknown) => {
				if (error instanceof Unreachable) return this.#cut();
				this.#stopTold = false;
				this.isStopping = false;
			})
			.finally(() => clearTimeout(patience));
	}

	/** Nobody can be told: it ends here, and what became of it is found out later. */
	#cut(): void {
		if (!this.isRunning) return;
		this.isCut = true;
		this.leave();
	}
}

interface Wrapper {
	message: Message;
	conversation_id: string;
}

/** After these the turn is followed again. Whatever else is thrown is a bug of ours. */
const DROPS = [Dropped, Unreachable, BadDelta, ApiError];

function isDrop(error: unknown): boolean {
	return DROPS.some((drop) => error instanceof drop);
}

/** How much of the answer is there. It is the last message that a turn begins. */
function numCharsOf({ trees }: Decoder): number {
	const last = [...trees.values()].at(-1) as Wrapper | undefined;
	return last?.message.author.role === 'assistant'
		? (last.message.content.parts[0] ?? '').length
		: 0;
}

function parsed(frame: Frame): unknown {
	try {
		return JSON.parse(frame.data);
	} catch {
		throw new BadDelta(`not JSON: ${frame.data.slice(0, 80)}`);
	}
}
