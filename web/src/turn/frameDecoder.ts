/**
 * Decodes a turn's frames into its messages, and keeps the last event number and the checksums.
 * Pure: it does not know where frames come from, or when messages are drawn.
 */
import type { Frame } from '$/api/stream';
import type { Checksum, Envelope, Message, SideEvent } from '$/api/wire';
import { BadDelta, DeltaDecoder, type Delta } from '$/turn/delta';

/** After this many failed readings the stream counts as unreadable. */
const MAX_RESTARTS = 3;

export class FrameDecoder {
	/** The last event that was decoded. */
	seq = 0;
	/** The server sends these when the answer is complete. */
	checksums: Checksum[] | null = null;
	/** A title or a suggested memory may follow the answer. */
	hasAfterword = false;

	#deltas = new DeltaDecoder();
	#numRestarts = 0;

	constructor(private readonly onSideEvent: (event: SideEvent) => void) {}

	get messages(): Message[] {
		return this.#nodes.map(({ message }) => message).filter((message) => !isHidden(message));
	}

	get conversationId(): string | null {
		return this.#nodes[0]?.conversation_id ?? null;
	}

	/** The length of the answer so far, without what tools returned. */
	get numChars(): number {
		const texts = this.messages.map(({ author, content }) =>
			author.role === 'assistant' ? (content.parts[0] ?? '') : ''
		);
		return texts.reduce((sum, text) => sum + text.length, 0);
	}

	/** Whether the newest message is that of a tool. */
	get isUsingTool(): boolean {
		return this.#nodes.at(-1)?.message.author.role === 'tool';
	}

	/** Returns whether the messages have changed. Throws BadDelta for any unreadable frame. */
	decode(frame: Frame): boolean {
		try {
			const hasChanged = this.#apply(frame);
			this.seq = frame.seq ?? this.seq;
			return hasChanged;
		} catch (error) {
			throw error instanceof BadDelta ? error : new BadDelta('not to be read', { cause: error });
		}
	}

	/** Starts over at event 0. Returns false if it has started over too often. */
	restart(): boolean {
		this.#deltas = new DeltaDecoder();
		this.seq = 0;
		return ++this.#numRestarts < MAX_RESTARTS;
	}

	get #nodes(): Envelope[] {
		return [...this.#deltas.trees.values()] as unknown as Envelope[];
	}

	#apply(frame: Frame): boolean {
		const data = parseData(frame);
		if (frame.event === 'delta_encoding') {
			if (data !== 'v1') throw new BadDelta(`an encoding we do not know: ${frame.data}`);
			return false;
		}
		if (frame.event === 'delta') {
			this.#deltas.apply(data as Delta);
			return true;
		}
		return this.#applySideEvent(data as SideEvent);
	}

	#applySideEvent(event: SideEvent): boolean {
		switch (event.type) {
			case 'stream_resumed':
				this.#deltas.carry = event.carry;
				return false;
			case 'stream_snapshot':
				this.#deltas = DeltaDecoder.fromSnapshot(event.channels, event.carry);
				this.seq = event.seq;
				return true;
			case 'message_stream_complete':
				this.checksums = event.messages;
				this.hasAfterword = event.has_afterword ?? false;
				return false;
			default:
				this.onSideEvent(event);
				return false;
		}
	}
}

/** Whether the message is a part of the prompt, which is never shown. */
export function isHidden({ metadata }: Message): boolean {
	return metadata.is_visually_hidden_from_conversation === true;
}

function parseData({ data }: Frame): unknown {
	try {
		return JSON.parse(data);
	} catch {
		throw new BadDelta(`not JSON: ${data.slice(0, 80)}`);
	}
}
