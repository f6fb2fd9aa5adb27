/**
 * The ways on which a turn's frames come: as the answer to a Send, over the page's socket, or
 * over HTTP. Knows which of them is open now, and nothing of what the frames say.
 */
import type { Api } from '$/api/client';
import type { Spot } from '$/api/connection';
import type { Topics } from '$/api/socket';
import { Dropped, readFrames, type Frame } from '$/api/stream';
import type { SendBody } from '$/api/wire';

export type Door = Pick<Api, 'send' | 'follow' | 'resume' | 'stop' | 'topics'> &
	Partial<Pick<Api, 'expectsSuggestions'>>;

/** `key` tells one press of a button from the next, where there is no message to tell them by. */
export type Start = { body: SendBody; key?: string } | { turnId: string; conversationId: string };

/** How far a turn was read, and where it is. */
type Mark = Omit<Spot, 'token'> & { conversationId: string | null };

export class Ways {
	/** With it the server knows us when we come back. The newest one counts. */
	token: string | null = null;
	/** The socket was tried, and has not shown anything since. */
	#isSocketDeaf = false;
	/** The connection of its own on which it came back. */
	#line = new AbortController();

	constructor(private readonly door: Door) {}

	get canUseSocket(): boolean {
		return this.door.topics?.isOpen === true && !this.#isSocketDeaf;
	}

	/** Gives up a connection of its own. What comes over the socket goes on coming. */
	hangUp(): void {
		this.#line.abort();
	}

	/** Over the socket where one is open: it is there already. */
	comeBack({ conversationId, ...read }: Mark, left: AbortSignal): AsyncGenerator<Frame> {
		const { topics } = this.door;
		const spot = { ...read, token: this.token };
		return topics && this.canUseSocket
			? this.#overSocket(topics, spot, left)
			: this.#overHttp(spot, conversationId, left);
	}

	async *#overSocket(topics: Topics, spot: Spot, left: AbortSignal): AsyncGenerator<Frame> {
		this.#isSocketDeaf = true;
		for await (const frame of topics.follow(spot, left)) {
			if (frame.seq !== null) this.#isSocketDeaf = false;
			yield frame;
		}
	}

	async *#overHttp(
		{ turnId: turn_exchange_id, offset, token }: Spot,
		conversation_id: string | null,
		left: AbortSignal
	): AsyncGenerator<Frame> {
		const line = (this.#line = new AbortController());
		left.addEventListener('abort', () => line.abort(), { signal: line.signal });
		if (left.aborted) line.abort();
		try {
			yield* framesIn(
				token === null || conversation_id === null
					? await this.door.follow(turn_exchange_id, offset, line.signal)
					: await this.door.resume(
							{ conversation_id, turn_exchange_id, offset },
							token,
							line.signal
						)
			);
		} catch (error) {
			// Hung up before anything came: there is a better way now.
			throw line.signal.aborted && !left.aborted ? new Dropped('The line was given up.') : error;
		}
	}
}

export function framesIn({ body }: Response): AsyncGenerator<Frame> {
	if (body === null) throw new Dropped('The stream is empty.');
	return readFrames(body);
}
