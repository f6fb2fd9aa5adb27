/**
 * One connection of the socket, from its first command to its close. It carries any number of
 * followed turns, and news about all others. It does not reconnect: `socket.ts` does.
 */
import { ApiError } from './http';
import type {
	Command,
	CommandError,
	ConnectReply,
	News,
	ServerFrame,
	SubscribeReply
} from './wire';
import { Dropped, type Frame } from './stream';
import { Subscription } from './subscription';

/** The part of a browser's WebSocket that is used here. */
export type RawSocket = Pick<WebSocket, 'onopen' | 'onmessage' | 'onclose' | 'send' | 'close'>;

/** Where to resume a turn: after event `offset`. */
export interface ResumePoint {
	turnId: string;
	offset: number;
	/** The resume token from the turn's stream, if it is still valid. */
	token: string | null;
}

/** The server sends a ping every twenty seconds. */
const SILENCE_MS = 45_000;

interface PendingReply {
	resolve(reply: unknown): void;
	reject(error: Error): void;
}

export class Connection {
	/** Resolves with the close code. */
	readonly closed: Promise<number>;
	/** Resolves with the connection id when commands are accepted; rejects if it closes before. */
	readonly ready: Promise<string>;
	onnews: (news: News) => void = () => undefined;

	#socket: RawSocket;
	#numRequests = 0;
	#pending = new Map<number, PendingReply>();
	#subscriptions = new Map<string, Subscription>();
	#silenceTimer: ReturnType<typeof setTimeout> | undefined;
	#isClosed = false;
	#resolveClosed: (code: number) => void = () => undefined;

	/** `replacedId` is the connection before: the server may not have noticed its end yet. */
	constructor(socket: RawSocket, replacedId: string | null) {
		this.#socket = socket;
		this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
		socket.onclose = ({ code }) => this.#end(code);
		const opened = new Promise<void>((resolve) => (socket.onopen = () => resolve()));
		const lost = this.closed.then(() => Promise.reject(createClosedError()));
		this.ready = Promise.race([opened.then(() => this.#connect(replacedId)), lost]);
		socket.onmessage = ({ data }: { data: unknown }) => this.#receive(String(data));
		this.#restartSilenceTimer();
	}

	/** Ends at once: without a network the browser would report the close much later. */
	close(): void {
		this.#socket.close();
		this.#end(1005);
	}

	/** The frames of a turn, until the signal aborts or the connection is lost. */
	async *follow(
		{ turnId, offset, token }: ResumePoint,
		signal: AbortSignal
	): AsyncGenerator<Frame> {
		const topic_id = `conversation-turn-${turnId}`;
		const auth = token === null ? {} : { token };
		const subscribe = (from: string, mode: { mode?: 'compact' } = {}) =>
			this.#request(
				{ type: 'subscribe', topic_id, offset: from, ...mode, ...auth },
				(reply) => subscription.begin(reply as SubscribeReply),
				(error) => subscription.end(error)
			);
		const subscription = new Subscription(topic_id, offset, {
			send: (command) => this.#send(command),
			restart: () => subscribe('0', { mode: 'compact' })
		});
		const stop = () => subscription.end();
		signal.addEventListener('abort', stop);
		this.#subscriptions.get(topic_id)?.end();
		this.#subscriptions.set(topic_id, subscription);
		try {
			subscribe(String(offset));
			yield* subscription.frames();
		} finally {
			signal.removeEventListener('abort', stop);
			subscription.end();
			this.#unsubscribe(topic_id, subscription);
		}
	}

	/** Does nothing if a newer subscription follows the same turn. */
	#unsubscribe(topic_id: string, subscription: Subscription): void {
		if (this.#subscriptions.get(topic_id) !== subscription) return;
		this.#subscriptions.delete(topic_id);
		this.#send({ type: 'unsubscribe', topic_id });
	}

	async #connect(replacedId: string | null): Promise<string> {
		const reply = await new Promise((resolve, reject: (error: Error) => void) =>
			this.#request(
				{
					type: 'connect',
					presence: { type: 'presence', state: 'foreground' },
					...(replacedId === null ? {} : { last_connection: replacedId })
				},
				resolve,
				reject
			)
		);
		return (reply as ConnectReply).connection_id;
	}

	/** Callbacks, not a promise: a reply must be handled before the frames behind it. */
	#request(
		command: Command,
		resolve: PendingReply['resolve'],
		reject: PendingReply['reject']
	): void {
		if (this.#isClosed) return reject(createClosedError());
		const id = ++this.#numRequests;
		this.#pending.set(id, { resolve, reject });
		this.#socket.send(JSON.stringify({ id, command }));
	}

	#send(command: Command): void {
		if (!this.#isClosed) this.#socket.send(JSON.stringify({ command }));
	}

	#receive(text: string): void {
		this.#restartSilenceTimer();
		const frames = parseFrames(text);
		if (frames === null) return this.close();
		for (const frame of frames) this.#dispatch(frame);
	}

	#dispatch(frame: ServerFrame): void {
		switch (frame.type) {
			case 'message':
			case 'snapshot':
				this.#subscriptions.get(frame.topic_id)?.receive(frame);
				break;
			case 'reply':
				this.#takePending(frame.id)?.resolve(frame.reply);
				break;
			case 'nack':
				if (frame.id !== null) this.#takePending(frame.id)?.reject(toApiError(frame.error));
				else this.#subscriptions.get(frame.topic_id ?? '')?.end(createClosedError());
				break;
			case 'news':
				this.onnews(frame.news);
				break;
			case 'ping':
				this.#send({ type: 'pong', t: frame.t });
		}
	}

	#takePending(id: number): PendingReply | undefined {
		const pending = this.#pending.get(id);
		this.#pending.delete(id);
		return pending;
	}

	#restartSilenceTimer(): void {
		clearTimeout(this.#silenceTimer);
		this.#silenceTimer = setTimeout(() => this.close(), SILENCE_MS);
	}

	#end(code: number): void {
		this.#isClosed = true;
		this.#resolveClosed(code);
		clearTimeout(this.#silenceTimer);
		for (const { reject } of this.#pending.values()) reject(createClosedError());
		for (const subscription of this.#subscriptions.values()) subscription.end(createClosedError());
	}
}

/** Null if it is not JSON. */
function parseFrames(text: string): ServerFrame[] | null {
	try {
		const parsed = JSON.parse(text) as ServerFrame | ServerFrame[];
		return Array.isArray(parsed) ? parsed : [parsed];
	} catch {
		return null;
	}
}

const createClosedError = () => new Dropped('The socket was closed.');

/** The HTTP status that each code has on the HTTP routes. */
const STATUS_BY_CODE: Record<string, number> = {
	not_found: 404,
	persisted_final_available: 410,
	token_expired: 401,
	token_invalid: 401
};

function toApiError({ code, message, retryable, retry_after_ms }: CommandError): ApiError {
	const status = STATUS_BY_CODE[code] ?? (retryable ? 503 : 400);
	return new ApiError(message, status, code, null, retry_after_ms ?? null);
}
