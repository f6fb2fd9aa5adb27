/**
 * The transports of a turn's frames: the response to the Send, the page's socket, or another HTTP
 * stream. Picks the one to resume over, and knows nothing of what the frames say.
 */
import type { Api } from '$/api/client';
import type { TurnSocket } from '$/api/socket';
import type { ResumePoint } from '$/api/socketConnection';
import { Dropped, readFrames, type Frame } from '$/api/stream';
import type { SendBody } from '$/api/wire';

export type TurnApi = Pick<Api, 'send' | 'follow' | 'resume' | 'stop' | 'socket'>;

/** A Send, or a turn that is already running. `key` makes a Send without a message idempotent. */
export type Start = { body: SendBody; key?: string } | { turnId: string; conversationId: string };

export type Position = Omit<ResumePoint, 'token'> & { conversationId: string | null };

export class Transports {
	/** The newest resume token from the stream. */
	token: string | null = null;
	/** The socket was tried and has delivered nothing since. */
	#isSocketSilent = false;
	/** The frames come over the socket. */
	isOverSocket = false;
	/** Aborts the HTTP stream that resumed the turn. */
	#httpStream = new AbortController();

	constructor(private readonly api: TurnApi) {}

	get canUseSocket(): boolean {
		return this.api.socket?.isOpen === true && !this.#isSocketSilent;
	}

	/** Closes the HTTP stream. Frames over the socket continue. */
	closeHttp(): void {
		this.#httpStream.abort();
	}

	/** Resumes over the socket if it is open, else over HTTP. */
	resume({ conversationId, ...position }: Position, signal: AbortSignal): AsyncGenerator<Frame> {
		const { socket } = this.api;
		const from = { ...position, token: this.token };
		this.isOverSocket = this.canUseSocket;
		return socket && this.isOverSocket
			? this.#resumeOverSocket(socket, from, signal)
			: this.#resumeOverHttp(from, conversationId, signal);
	}

	/** Streams what follows the turn's end, over the socket if it is open. */
	followAfterword({ turnId, offset }: Position, signal: AbortSignal): AsyncGenerator<Frame> {
		const { socket, follow } = this.api;
		this.isOverSocket = this.canUseSocket;
		if (socket && this.isOverSocket)
			return socket.follow({ turnId, offset, token: this.token }, signal);
		return (async function* () {
			yield* readResponse(await follow(turnId, offset, signal, true));
		})();
	}

	async *#resumeOverSocket(
		socket: TurnSocket,
		from: ResumePoint,
		signal: AbortSignal
	): AsyncGenerator<Frame> {
		this.#isSocketSilent = true;
		for await (const frame of socket.follow(from, signal)) {
			if (frame.seq !== null) this.#isSocketSilent = false;
			yield frame;
		}
	}

	async *#resumeOverHttp(
		{ turnId: turn_exchange_id, offset, token }: ResumePoint,
		conversation_id: string | null,
		signal: AbortSignal
	): AsyncGenerator<Frame> {
		const stream = (this.#httpStream = new AbortController());
		signal.addEventListener('abort', () => stream.abort(), { signal: stream.signal });
		if (signal.aborted) stream.abort();
		try {
			yield* readResponse(
				token === null || conversation_id === null
					? await this.api.follow(turn_exchange_id, offset, stream.signal)
					: await this.api.resume(
							{ conversation_id, turn_exchange_id, offset },
							token,
							stream.signal
						)
			);
		} catch (error) {
			// Closed by `closeHttp` before the response came: the turn resumes over another transport.
			if (stream.signal.aborted && !signal.aborted) throw new Dropped('The line was given up.');
			throw error;
		}
	}
}

export function readResponse({ body }: Response): AsyncGenerator<Frame> {
	if (body === null) throw new Dropped('The stream is empty.');
	return readFrames(body);
}
