/**
 * One turn followed over a connection: its frames in order, acknowledged as they come. What it
 * wants to say to the server goes through its `Line`; it knows nothing of sockets.
 */
import type { Command, MessageFrame, SnapshotFrame, SubscribeReply } from './frames';
import { Queue } from './queue';
import { Dropped, framesOf, type Frame } from './stream';
import { PATIENCE_MS, Topic } from './topic';

/** The server stops at 256 that are not acknowledged, so there is room. */
const ACK_ITEMS = 32;
const ACK_MS = 250;
/** How long the server may take to say that it has taken the subscription. */
const TAKEN_MS = 3_000;

interface Line {
	tell(command: Command): void;
	/** Asks for the turn from its beginning, in short. */
	restart(): void;
}

export class Subscription {
	#topicId: string;
	#line: Line;
	#topic: Topic<string>;
	#queue = new Queue<Frame>();
	#acked: number;
	#numUnacked = 0;
	#ackTimer: ReturnType<typeof setTimeout> | undefined;
	#gapTimer: ReturnType<typeof setTimeout> | undefined;
	#takenTimer: ReturnType<typeof setTimeout> | undefined;

	/** Nothing fits any more until the server has begun anew. */
	#isRestarting = false;

	constructor(topicId: string, offset: number, line: Line) {
		this.#topicId = topicId;
		this.#topic = new Topic(offset);
		this.#acked = offset;
		this.#line = line;
		this.#takenTimer = setTimeout(() => this.end(), TAKEN_MS);
	}

	/** As the connection comes to it. Ends only by an error, or when it is no longer read. */
	frames(): AsyncGenerator<Frame> {
		return this.#queue.read();
	}

	/** The server has taken the subscription: how the stream goes on, and what we have missed. */
	begin({ carry, catchups }: SubscribeReply): void {
		clearTimeout(this.#takenTimer);
		// Begun anew, it opens with a snapshot.
		if (this.#isRestarting) this.#topic.jump(0);
		else this.#queue.put(told({ type: 'stream_resumed', carry }));
		this.#isRestarting = false;
		for (const frame of catchups) this.take(frame);
	}

	take(frame: MessageFrame | SnapshotFrame): void {
		if (this.#isRestarting) return;
		if (frame.type === 'snapshot') this.#jump(frame);
		else this.#read(frame);
		this.#acknowledge();
		this.#ask();
	}

	end(error: Error = new Dropped('The subscription is over.')): void {
		for (const timer of [this.#ackTimer, this.#gapTimer, this.#takenTimer]) clearTimeout(timer);
		this.#queue.fail(error);
	}

	#read({ seq, n, payload }: MessageFrame): void {
		const ready = this.#topic.take({ seq, n, body: payload.payload.encoded_item });
		this.#numUnacked += ready.length;
		this.#queue.put(...ready.flatMap(framesOf));
	}

	#jump({ seq, channels, carry }: SnapshotFrame): void {
		this.#topic.jump(seq);
		this.#numUnacked += 1;
		this.#queue.put(told({ type: 'stream_snapshot', seq, channels, carry }));
	}

	#acknowledge(): void {
		if (this.#topic.last === this.#acked) return;
		if (this.#numUnacked >= ACK_ITEMS) return this.#ack();
		this.#ackTimer ??= setTimeout(() => this.#ack(), ACK_MS);
	}

	#ack(): void {
		clearTimeout(this.#ackTimer);
		this.#ackTimer = undefined;
		this.#numUnacked = 0;
		this.#acked = this.#topic.last;
		this.#line.tell({ type: 'ack', topic_id: this.#topicId, seq: this.#acked });
	}

	/** Asks for what is missing, and looks again whether it has come. */
	#ask(): void {
		const wish = this.#topic.wish(Date.now());
		if (wish === null) return;
		clearTimeout(this.#gapTimer);
		if (wish.type === 'restart') return this.#restart();
		const { from, to } = wish;
		this.#line.tell({ type: 'nack', topic_id: this.#topicId, from, to, reason: 'gap' });
		this.#gapTimer = setTimeout(() => this.#ask(), PATIENCE_MS);
	}

	#restart(): void {
		this.#isRestarting = true;
		this.#line.restart();
		this.#takenTimer = setTimeout(() => this.end(), TAKEN_MS);
	}
}

function told(event: object): Frame {
	return { seq: null, event: 'message', data: JSON.stringify(event) };
}
