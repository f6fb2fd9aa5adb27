/**
 * One connection of the socket, from its first command to its close. It carries any number of
 * turns, and the news of all others. Whether there is to be another after it is not its business.
 */
import { ApiError } from './client';
import type { Command, ConnectReply, News, Refusal, ServerFrame, SubscribeReply } from './frames';
import { Dropped, type Frame } from './stream';
import { Subscription } from './subscription';

/** As much of a browser's WebSocket as we use. */
export type RawSocket = Pick<WebSocket, 'onopen' | 'onmessage' | 'onclose' | 'send' | 'close'>;

/** Where a turn is read from: after event `offset`. */
export interface Spot {
	turnId: string;
	offset: number;
	/** What the stream gave us to come back with, if we still have it. */
	token: string | null;
}

/** The server says something every twenty seconds, if only that it is there. */
const SILENCE_MS = 45_000;

interface Waiting {
	resolve(reply: unknown): void;
	reject(error: Error): void;
}

export class Connection {
	/** Resolved with its code when it closes. */
	readonly closed: Promise<number>;
	/** Resolved with its name when commands are taken; rejected if it closes before. */
	readonly ready: Promise<string>;
	onnews: (news: News) => void = () => undefined;

	#wire: RawSocket;
	#numAsked = 0;
	#waiting = new Map<number, Waiting>();
	#topics = new Map<string, Subscription>();
	#silence: ReturnType<typeof setTimeout> | undefined;
	#isClosed = false;
	#tellClosed: (code: number) => void = () => undefined;

	/** `replaces` is the one we had before: the server may not know yet that it is gone. */
	constructor(wire: RawSocket, replaces: string | null) {
		this.#wire = wire;
		this.closed = new Promise((tell) => (this.#tellClosed = tell));
		wire.onclose = ({ code }) => this.#end(code);
		const opened = new Promise<void>((tell) => (wire.onopen = () => tell()));
		const lost = this.closed.then(() => Promise.reject(gone()));
		this.ready = Promise.race([opened.then(() => this.#greet(replaces)), lost]);
		wire.onmessage = ({ data }: { data: unknown }) => this.#hear(String(data));
		this.#listen();
	}

	/** A network that is gone would not tell us that it is closed. */
	close(): void {
		this.#wire.close();
		this.#end(1005);
	}

	/** The frames of a turn, until they are no longer read or the connection is lost. */
	async *follow({ turnId, offset, token }: Spot, left: AbortSignal): AsyncGenerator<Frame> {
		const topic_id = `conversation-turn-${turnId}`;
		const pass = token === null ? {} : { token };
		const subscribe = (from: string, mode: { mode?: 'compact' } = {}) =>
			this.#ask(
				{ type: 'subscribe', topic_id, offset: from, ...mode, ...pass },
				(reply) => subscription.begin(reply as SubscribeReply),
				(error) => subscription.end(error)
			);
		const subscription = new Subscription(topic_id, offset, {
			tell: (command) => this.#tell(command),
			restart: () => subscribe('0', { mode: 'compact' })
		});
		const stop = () => subscription.end();
		left.addEventListener('abort', stop);
		this.#topics.get(topic_id)?.end();
		this.#topics.set(topic_id, subscription);
		try {
			subscribe(String(offset));
			yield* subscription.frames();
		} finally {
			left.removeEventListener('abort', stop);
			subscription.end();
			this.#forget(topic_id, subscription);
		}
	}

	/** Another may follow the same turn by now. */
	#forget(topic_id: string, subscription: Subscription): void {
		if (this.#topics.get(topic_id) !== subscription) return;
		this.#topics.delete(topic_id);
		this.#tell({ type: 'unsubscribe', topic_id });
	}

	async #greet(replaces: string | null): Promise<string> {
		const reply = await new Promise((resolve, reject: (error: Error) => void) =>
			this.#ask(
				{
					type: 'connect',
					presence: { type: 'presence', state: 'foreground' },
					...(replaces === null ? {} : { last_connection: replaces })
				},
				resolve,
				reject
			)
		);
		return (reply as ConnectReply).connection_id;
	}

	/** What is answered is taken at once, before whatever comes behind it. */
	#ask(command: Command, resolve: Waiting['resolve'], reject: Waiting['reject']): void {
		if (this.#isClosed) return reject(gone());
		const id = ++this.#numAsked;
		this.#waiting.set(id, { resolve, reject });
		this.#wire.send(JSON.stringify({ id, command }));
	}

	#tell(command: Command): void {
		if (!this.#isClosed) this.#wire.send(JSON.stringify({ command }));
	}

	#hear(text: string): void {
		this.#listen();
		const said = read(text);
		if (said === null) return this.close();
		for (const frame of said) this.#take(frame);
	}

	#take(frame: ServerFrame): void {
		switch (frame.type) {
			case 'message':
			case 'snapshot':
				this.#topics.get(frame.topic_id)?.take(frame);
				break;
			case 'reply':
				this.#answered(frame.id)?.resolve(frame.reply);
				break;
			case 'nack':
				if (frame.id !== null) this.#answered(frame.id)?.reject(errorOf(frame.error));
				else this.#topics.get(frame.topic_id ?? '')?.end(gone());
				break;
			case 'news':
				this.onnews(frame.news);
				break;
			case 'ping':
				this.#tell({ type: 'pong', t: frame.t });
		}
	}

	#answered(id: number): Waiting | undefined {
		const waiting = this.#waiting.get(id);
		this.#waiting.delete(id);
		return waiting;
	}

	/** A server that is there says something now and then. */
	#listen(): void {
		clearTimeout(this.#silence);
		this.#silence = setTimeout(() => this.close(), SILENCE_MS);
	}

	#end(code: number): void {
		this.#isClosed = true;
		this.#tellClosed(code);
		clearTimeout(this.#silence);
		for (const { reject } of this.#waiting.values()) reject(gone());
		this.#endTopics();
	}

	/** Whoever reads them comes back. */
	#endTopics(): void {
		for (const subscription of this.#topics.values()) subscription.end(gone());
	}
}

/** Null if no server of ours would say that. */
function read(text: string): ServerFrame[] | null {
	try {
		const said = JSON.parse(text) as ServerFrame | ServerFrame[];
		return Array.isArray(said) ? said : [said];
	} catch {
		return null;
	}
}

const gone = () => new Dropped('The socket was closed.');

/** The same refusals have numbers of their own over HTTP. */
const STATUS: Record<string, number> = {
	not_found: 404,
	persisted_final_available: 410,
	token_expired: 401,
	token_invalid: 401
};

function errorOf({ code, message, retryable, retry_after_ms }: Refusal): ApiError {
	const status = STATUS[code] ?? (retryable ? 503 : 400);
	return new ApiError(message, status, code, null, retry_after_ms ?? null);
}
