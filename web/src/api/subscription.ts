/**
 * One turn followed over a connection: its frames in order, acknowledged as they arrive. Its
 * commands go out through `Outgoing`; it knows no socket.
 */
import { NACK_TIMEOUT_MS, ReorderBuffer } from './reorderBuffer';
import type { Command, MessageFrame, SnapshotFrame, SubscribeReply } from './wire';
import { Dropped, parseFrames, type Frame } from './stream';

/** The server pauses at 256 unacknowledged items. */
const ACK_ITEMS = 32;
const ACK_MS = 250;
/** How long the server may take to confirm the subscription. */
const CONFIRM_TIMEOUT_MS = 3_000;

interface Outgoing {
	send(command: Command): void;
	/** Subscribes to the turn from its beginning, in compact form. */
	restart(): void;
}

export class Subscription {
	#topicId: string;
	#outgoing: Outgoing;
	#buffer: ReorderBuffer<string>;
	#queue = new Queue<Frame>();
	#ackedSeq: number;
	#numUnacked = 0;
	#ackTimer: ReturnType<typeof setTimeout> | undefined;
	#repairTimer: ReturnType<typeof setTimeout> | undefined;
	#confirmTimer: ReturnType<typeof setTimeout> | undefined;

	/** Frames are ignored until the server confirms the restart. */
	#isRestarting = false;

	constructor(topicId: string, offset: number, outgoing: Outgoing) {
		this.#topicId = topicId;
		this.#buffer = new ReorderBuffer(offset);
		this.#ackedSeq = offset;
		this.#outgoing = outgoing;
		this.#confirmTimer = setTimeout(() => this.end(), CONFIRM_TIMEOUT_MS);
	}

	/** Ends only with an error, or when it is no longer read. */
	frames(): AsyncGenerator<Frame> {
		return this.#queue.read();
	}

	/** Handles the server's confirmation, with the events that were missed. */
	begin({ carry, catchups }: SubscribeReply): void {
		clearTimeout(this.#confirmTimer);
		// A restarted topic opens with a snapshot, which carries the decoder's state itself.
		if (this.#isRestarting) this.#buffer.jump(0);
		else this.#queue.put(buildSideEventFrame({ type: 'stream_resumed', carry }));
		this.#isRestarting = false;
		for (const frame of catchups) this.receive(frame);
	}

	receive(frame: MessageFrame | SnapshotFrame): void {
		if (this.#isRestarting) return;
		if (frame.type === 'snapshot') this.#receiveSnapshot(frame);
		else this.#receiveItem(frame);
		this.#scheduleAck();
		this.#requestRepair();
	}

	end(error: Error = new Dropped('The subscription is over.')): void {
		for (const timer of [this.#ackTimer, this.#repairTimer, this.#confirmTimer])
			clearTimeout(timer);
		this.#queue.fail(error);
	}

	#receiveItem({ seq, n, payload }: MessageFrame): void {
		const ready = this.#buffer.add({ seq, n, body: payload.payload.encoded_item });
		this.#numUnacked += ready.length;
		this.#queue.put(...ready.flatMap(parseFrames));
	}

	#receiveSnapshot({ seq, channels, carry }: SnapshotFrame): void {
		this.#buffer.jump(seq);
		this.#numUnacked += 1;
		this.#queue.put(buildSideEventFrame({ type: 'stream_snapshot', seq, channels, carry }));
	}

	#scheduleAck(): void {
		if (this.#buffer.lastSeq === this.#ackedSeq) return;
		if (this.#numUnacked >= ACK_ITEMS) return this.#sendAck();
		this.#ackTimer ??= setTimeout(() => this.#sendAck(), ACK_MS);
	}

	#sendAck(): void {
		clearTimeout(this.#ackTimer);
		this.#ackTimer = undefined;
		this.#numUnacked = 0;
		this.#ackedSeq = this.#buffer.lastSeq;
		this.#outgoing.send({ type: 'ack', topic_id: this.#topicId, seq: this.#ackedSeq });
	}

	/** Requests missing events, and checks later whether they have arrived. */
	#requestRepair(): void {
		const request = this.#buffer.repair(Date.now());
		if (request === null) return;
		clearTimeout(this.#repairTimer);
		if (request.type === 'restart') return this.#restart();
		const { from, to } = request;
		this.#outgoing.send({ type: 'nack', topic_id: this.#topicId, from, to, reason: 'gap' });
		this.#repairTimer = setTimeout(() => this.#requestRepair(), NACK_TIMEOUT_MS);
	}

	#restart(): void {
		this.#isRestarting = true;
		this.#outgoing.restart();
		this.#confirmTimer = setTimeout(() => this.end(), CONFIRM_TIMEOUT_MS);
	}
}

function buildSideEventFrame(event: object): Frame {
	return { seq: null, event: 'message', data: JSON.stringify(event) };
}

/** An unbounded queue with one reader. */
class Queue<T> {
	#items: T[] = [];
	#error: Error | null = null;
	#wake: () => void = () => undefined;

	put(...items: T[]): void {
		this.#items.push(...items);
		this.#wake();
	}

	/** The reader gets the queued items first, and then this error. */
	fail(error: Error): void {
		this.#error ??= error;
		this.#wake();
	}

	async *read(): AsyncGenerator<T> {
		for (;;) {
			yield* this.#items.splice(0);
			if (this.#items.length > 0) continue;
			if (this.#error !== null) throw this.#error;
			await new Promise<void>((wake) => (this.#wake = wake));
		}
	}
}
