/**
 * The page's one socket. It reconnects when the connection is lost. Turns followed over it end
 * with the connection, and their reader resumes them.
 */
import { ApiError, Unreachable } from './http';
import { Connection, type RawSocket, type ResumePoint } from './socketConnection';
import { SUBPROTOCOL, type News } from './wire';
import { longBackoff, type Backoff } from './backoff';
import { Dropped, type Frame } from './stream';

/** Follows turns over the socket while it is open. */
export interface TurnSocket {
	readonly isOpen: boolean;
	follow(from: ResumePoint, signal: AbortSignal): AsyncGenerator<Frame>;
}

/** Returns an address that opens the socket once. */
type GetTicket = () => Promise<{ websocket_url: string }>;
type Connect = (url: string) => RawSocket;

export class Socket implements TurnSocket {
	/** Called for each new connection. News from before it were missed. */
	onopen: () => void = () => undefined;
	onclose: () => void = () => undefined;
	onnews: (news: News) => void = () => undefined;

	#getTicket: GetTicket;
	#connect: Connect;
	#backoff: Backoff;
	#connection: Connection | null = null;
	/** The id of the connection before this one. */
	#lastConnectionId: string | null = null;
	/** Aborted by `close`; null while closed. */
	#closing: AbortController | null = null;

	constructor(getTicket: GetTicket, connect: Connect = openWebSocket, backoff = longBackoff) {
		this.#getTicket = getTicket;
		this.#connect = connect;
		this.#backoff = backoff;
	}

	get isOpen(): boolean {
		return this.#connection !== null;
	}

	open(): void {
		if (this.#closing !== null) return;
		const closing = new AbortController();
		this.#closing = closing;
		void this.#keepOpen(closing.signal).finally(() => {
			if (this.#closing === closing) this.#closing = null;
		});
	}

	close(): void {
		this.#closing?.abort();
		this.#closing = null;
	}

	/** Call after a change of network, which leaves the connection dead. */
	reconnect(): void {
		this.#connection?.close();
	}

	async *follow(from: ResumePoint, signal: AbortSignal): AsyncGenerator<Frame> {
		if (this.#connection === null) throw new Dropped('There is no socket.');
		yield* this.#connection.follow(from, signal);
	}

	async #keepOpen(signal: AbortSignal): Promise<void> {
		for (let numTries = 0; !signal.aborted; numTries++) {
			const startedAt = Date.now();
			if (!shouldReconnect(await this.#runConnection(signal)) || signal.aborted) return;
			if (Date.now() - startedAt > STABLE_MS) numTries = 0;
			await this.#backoff(numTries, signal);
		}
	}

	/** Runs one connection until it closes, and returns the close code. */
	async #runConnection(signal: AbortSignal): Promise<number> {
		const url = await this.#requestUrl();
		if (typeof url === 'number') return url;
		if (signal.aborted) return CLOSED;
		const connection = new Connection(this.#connect(url), this.#lastConnectionId);
		const close = () => connection.close();
		signal.addEventListener('abort', close);
		connection.onnews = (news) => this.onnews(news);
		try {
			this.#lastConnectionId = await connection.ready;
			this.#connection = connection;
			this.onopen();
		} catch (error) {
			if (!(error instanceof Dropped || error instanceof ApiError)) throw error;
			connection.close();
		}
		const code = await connection.closed;
		signal.removeEventListener('abort', close);
		if (this.#connection === connection) {
			this.#connection = null;
			this.onclose();
		}
		return code;
	}

	/** Returns a close code if there is no ticket. */
	async #requestUrl(): Promise<string | number> {
		try {
			return (await this.#getTicket()).websocket_url;
		} catch (error) {
			if (error instanceof Unreachable) return LOST;
			if (!(error instanceof ApiError)) throw error;
			return error.status === 429 || error.status >= 500 ? LOST : REFUSED;
		}
	}
}

/** A connection that lasted this long resets the backoff. */
const STABLE_MS = 10_000;
const CLOSED = 1000;
const LOST = 1006;
const REFUSED = 4403;
/** Closed by us, bad frame, no ticket, replaced by another socket. */
const FINAL_CODES = new Set([CLOSED, 4400, REFUSED, 4409]);

export function shouldReconnect(code: number): boolean {
	return !FINAL_CODES.has(code);
}

function openWebSocket(url: string): RawSocket {
	return new WebSocket(toPageOrigin(location, url), SUBPROTOCOL);
}

/** Behind a proxy the server may not know the page's host and scheme, so the page's own are used. */
export function toPageOrigin(
	{ protocol, host }: Pick<Location, 'protocol' | 'host'>,
	url: string
): string {
	const { pathname, search } = new URL(url);
	return `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}${pathname}${search}`;
}
