/**
 * The one socket of the page: opened when it is wanted, and opened again when it is lost. Turns
 * that are followed over it end with the connection; whoever reads them comes back.
 */
import { ApiError, Unreachable } from './client';
import { Connection, type RawSocket, type Spot } from './connection';
import { SUBPROTOCOL, type News } from './frames';
import { backFarOff, type Pause } from './pause';
import { Dropped, type Frame } from './stream';

/** Turns can be followed over it while it is open. */
export interface Topics {
	readonly isOpen: boolean;
	follow(spot: Spot, left: AbortSignal): AsyncGenerator<Frame>;
}

/** Gives a new address to connect to, which holds once. */
type Ticket = () => Promise<{ websocket_url: string }>;
type Connect = (url: string) => RawSocket;

export class Socket implements Topics {
	/** Called when a connection is made: what happened before it was not heard. */
	onopen: () => void = () => undefined;
	onclose: () => void = () => undefined;
	onnews: (news: News) => void = () => undefined;

	#ticket: Ticket;
	#connect: Connect;
	#pause: Pause;
	#connection: Connection | null = null;
	/** The name of the last connection there was. */
	#former: string | null = null;
	#left: AbortController | null = null;

	constructor(ticket: Ticket, connect: Connect = browserSocket, pause: Pause = backFarOff) {
		this.#ticket = ticket;
		this.#connect = connect;
		this.#pause = pause;
	}

	get isOpen(): boolean {
		return this.#connection !== null;
	}

	open(): void {
		if (this.#left !== null) return;
		const left = new AbortController();
		this.#left = left;
		void this.#keepOpen(left.signal).finally(() => {
			if (this.#left === left) this.#left = null;
		});
	}

	close(): void {
		this.#left?.abort();
		this.#left = null;
	}

	/** The network is another one: nothing comes over the connection any more. */
	renew(): void {
		this.#connection?.close();
	}

	async *follow(spot: Spot, left: AbortSignal): AsyncGenerator<Frame> {
		if (this.#connection === null) throw new Dropped('There is no socket.');
		yield* this.#connection.follow(spot, left);
	}

	async #keepOpen(left: AbortSignal): Promise<void> {
		for (let numTries = 0; !left.aborted; numTries++) {
			const began = Date.now();
			if (!comesBack(await this.#once(left)) || left.aborted) return;
			if (Date.now() - began > STEADY_MS) numTries = 0;
			await this.#pause(numTries, left);
		}
	}

	/** One connection, from ticket to close. The code it closed with. */
	async #once(left: AbortSignal): Promise<number> {
		const url = await this.#address();
		if (typeof url === 'number') return url;
		if (left.aborted) return CLOSED;
		const connection = new Connection(this.#connect(url), this.#former);
		const close = () => connection.close();
		left.addEventListener('abort', close);
		connection.onnews = (news) => this.onnews(news);
		try {
			this.#former = await connection.ready;
			this.#connection = connection;
			this.onopen();
		} catch (error) {
			if (!(error instanceof Dropped || error instanceof ApiError)) throw error;
			connection.close();
		}
		const code = await connection.closed;
		left.removeEventListener('abort', close);
		if (this.#connection === connection) {
			this.#connection = null;
			this.onclose();
		}
		return code;
	}

	/** Or the code that says why there is none. */
	async #address(): Promise<string | number> {
		try {
			return (await this.#ticket()).websocket_url;
		} catch (error) {
			if (error instanceof Unreachable) return LOST;
			if (!(error instanceof ApiError)) throw error;
			return error.status === 429 || error.status >= 500 ? LOST : REFUSED;
		}
	}
}

/** A connection that held so long was no failure. */
const STEADY_MS = 10_000;
const CLOSED = 1000;
const LOST = 1006;
const REFUSED = 4403;
/** We closed it; a bad frame; no ticket for us; another socket in its place. */
const FINAL = new Set([CLOSED, 4400, REFUSED, 4409]);

export function comesBack(code: number): boolean {
	return !FINAL.has(code);
}

function browserSocket(url: string): RawSocket {
	return new WebSocket(seenFrom(location, url), SUBPROTOCOL);
}

/** A server behind a proxy may not know by which name, and how safely, the page came. The page does. */
export function seenFrom(
	{ protocol, host }: Pick<Location, 'protocol' | 'host'>,
	url: string
): string {
	const { pathname, search } = new URL(url);
	return `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}${pathname}${search}`;
}
