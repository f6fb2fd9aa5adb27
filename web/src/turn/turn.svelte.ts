/**
 * One turn, seen from the browser. Read this file first.
 *
 *     send or follow -> frame -> delta -> message -> Svelte draws
 *
 * Sending and coming back to a running turn are the same thing: read the turn's stream from
 * the last event we have. A connection that drops is followed again, quietly; only the server
 * ends a turn. Deltas are applied as they come and drawn once per animation frame.
 */
import { ApiError, failureOf, Unreachable, type Api } from '$/api/client';
import { Dropped, readFrames, type Frame } from '$/api/stream';
import type { Failure, Message, SendBody, SideEvent } from '$/api/wire';
import { BadDelta, Decoder, type Delta } from '$/turn/delta';
import { backOff, type Pause } from '$/turn/pause';
import { isWhole, type Proof } from '$/turn/proof';

type Door = Pick<Api, 'send' | 'follow' | 'stop'>;
type Start = { body: SendBody } | { turnId: string; conversationId: string };

/**
 * `whole`: we have it all. `unsent`: the server did not take the message, or was stopped before
 * it could say so. `doubtful`: what we have may not be what is stored. `cut`: stopped here, while
 * the server could not be told. `left`: nobody looks.
 */
export type Outcome = 'whole' | 'unsent' | 'doubtful' | 'cut' | 'left';

/** Why the answer has not begun, as the server said last. */
export interface Delay {
	reason: 'queue' | 'loading';
	numAhead: number;
}

/** How long the server may take to name a turn that is being stopped, or to hear of the stop. */
const PATIENCE_MS = 3_000;
/** A stream that reads wrong so often reads wrong for ever. */
const MAX_BAD_READINGS = 3;

export class Turn {
	id = $state<string | null>(null);
	conversationId = $state<string | null>(null);
	messages = $state.raw<Message[]>([]);
	title = $state<string | null>(null);
	failure = $state.raw<Failure | null>(null);
	delay = $state.raw<Delay | null>(null);
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
	#tellTaken: (isTaken: boolean) => void = () => undefined;
	/** Whether the server took the message, as soon as that is known. */
	readonly taken = new Promise<boolean>((tell) => (this.#tellTaken = tell));

	#door: Door;
	#body: SendBody | null = null;
	#pause: Pause;
	#running: Promise<Outcome> | null = null;
	/** Aborted when nobody reads on. The message that is being posted arrives nonetheless. */
	#left = new AbortController();
	#post = new AbortController();
	#decoder = new Decoder();
	#seq = 0;
	#proofs: Proof[] = [];
	#stopTold = false;
	#drawing: number | null = null;

	constructor(door: Door, start: Start, pause: Pause = backOff) {
		this.#door = door;
		this.#pause = pause;
		if ('body' in start) {
			this.#body = start.body;
			this.conversationId = start.body.conversation_id ?? null;
		} else {
			this.id = start.turnId;
			this.conversationId = start.conversationId;
		}
	}

	/** Reads it to its end, once, however many ask. */
	run(): Promise<Outcome> {
		this.#running ??= this.#run();
		return this.#running;
	}

	/** Asks the server to end the turn. What was said is kept, and the stream says so. */
	stop(): void {
		this.isStopping = true;
		if (this.isReconnecting) return this.#cut();
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
			this.isRunning = false;
			this.isReconnecting = false;
		}
	}

	async #readToTheEnd(): Promise<Outcome> {
		let numBad = 0;
		for (let drops = 0; ; drops++) {
			const before = this.#seq;
			try {
				await this.#read();
				return (await isWhole(this.messages, this.#proofs)) ? 'whole' : 'doubtful';
			} catch (error) {
				if (this.id === null) return this.#unsent(error);
				if (this.#left.signal.aborted) return this.isCut ? 'cut' : 'left';
				if (error instanceof ApiError && !mayPass(error)) return 'doubtful';
				if (!DROPS.some((drop) => error instanceof drop)) throw error;
				if (error instanceof BadDelta && ++numBad === MAX_BAD_READINGS) return 'doubtful';
				if (error instanceof BadDelta) this.#startOver();
			}
			if (this.#seq > before) drops = 0;
			this.isReconnecting = drops > 0;
			await this.#pause(drops, this.#left.signal);
		}
	}

	async #read(): Promise<void> {
		const signal = this.#left.signal;
		const response =
			this.id === null && this.#body !== null
				? await this.#door.send(this.#body, this.#post.signal)
				: await this.#door.follow(this.id ?? '', this.#seq, signal);
		this.id ??= response.headers.get('x-turn-exchange-id');
		this.#tellTaken(this.id !== null);
		if (signal.aborted) this.#post.abort();
		if (response.body === null) throw new Dropped('The stream is empty.');
		for await (const frame of readFrames(response.body)) {
			this.isReconnecting = false;
			if (frame.data === '[DONE]') return this.#draw();
			this.#take(frame);
		}
		throw new Dropped('The stream ended before it was done.');
	}

	#take(frame: Frame): void {
		if (frame.event === 'delta_encoding') {
			if (parsed(frame) !== 'v1') throw new BadDelta(`an encoding we do not know: ${frame.data}`);
		} else if (frame.event === 'delta') {
			this.#decoder.take(parsed(frame) as Delta);
			this.heardAt = Date.now();
			this.#drawing ??= requestAnimationFrame(() => this.#draw());
		} else {
			this.#note(parsed(frame) as SideEvent);
		}
		this.#seq = frame.seq ?? this.#seq;
	}

	#note(event: SideEvent): void {
		switch (event.type) {
			case 'title_generation':
				this.title = event.title;
				break;
			case 'stream_resumed':
				this.#decoder.carry = event.carry;
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

	#draw(): void {
		if (this.#drawing !== null) cancelAnimationFrame(this.#drawing);
		this.#drawing = null;
		const wrappers = [...this.#decoder.trees.values()] as unknown as Wrapper[];
		this.messages = wrappers.map((wrapper) => wrapper.message);
		this.conversationId ??= wrappers[0]?.conversation_id ?? null;
		if (this.isStopping) this.#tellStop();
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

	#unsent(error: unknown): Outcome {
		if (!this.#post.signal.aborted) this.failure = failureOf(error);
		return 'unsent';
	}

	#startOver(): void {
		this.#decoder = new Decoder();
		this.#seq = 0;
	}
}

interface Wrapper {
	message: Message;
	conversation_id: string;
}

/** After these the turn is followed again. Whatever else is thrown is a bug of ours. */
const DROPS = [Dropped, Unreachable, BadDelta, ApiError];

function parsed(frame: Frame): unknown {
	try {
		return JSON.parse(frame.data);
	} catch {
		throw new BadDelta(`not JSON: ${frame.data.slice(0, 80)}`);
	}
}

function mayPass({ status }: ApiError): boolean {
	return [408, 425, 429].includes(status) || status >= 500;
}
