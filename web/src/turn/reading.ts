/**
 * What a turn's frames come to: its messages, how far they were read, and how to know that they
 * are whole. Pure: where frames come from, and when anything is drawn, is not its business.
 */
import type { Frame } from '$/api/stream';
import type { Message, SideEvent } from '$/api/wire';
import { BadDelta, Decoder, type Delta } from '$/turn/delta';
import type { Proof } from '$/turn/proof';

/** A stream that reads wrong so often reads wrong for ever. */
const MAX_BAD_READINGS = 3;

interface Wrapper {
	message: Message;
	conversation_id: string;
}

export class Reading {
	/** The last event that was read. */
	seq = 0;
	/** What the server says of the whole text, with which the answer is complete. */
	proofs: Proof[] | null = null;

	#decoder = new Decoder();
	#numBad = 0;

	/** `note` is told what the frames say beside the messages. */
	constructor(private readonly note: (event: SideEvent) => void) {}

	get messages(): Message[] {
		return this.#wrappers.map(({ message }) => message).filter((message) => !isHidden(message));
	}

	get conversationId(): string | null {
		return this.#wrappers[0]?.conversation_id ?? null;
	}

	/** How much of the answer is there. It is the last message that a turn begins. */
	get numChars(): number {
		const last = this.#wrappers.at(-1)?.message;
		return last?.author.role === 'assistant' ? (last.content.parts[0] ?? '').length : 0;
	}

	/** True if the messages have changed. Whatever cannot be read, for whatever reason, is bad. */
	take(frame: Frame): boolean {
		try {
			const hasChanged = this.#apply(frame);
			this.seq = frame.seq ?? this.seq;
			return hasChanged;
		} catch (error) {
			throw error instanceof BadDelta ? error : new BadDelta('not to be read', { cause: error });
		}
	}

	/** Forgets what was read. False if that was done too often. */
	startOver(): boolean {
		this.#decoder = new Decoder();
		this.seq = 0;
		return ++this.#numBad < MAX_BAD_READINGS;
	}

	get #wrappers(): Wrapper[] {
		return [...this.#decoder.trees.values()] as unknown as Wrapper[];
	}

	#apply(frame: Frame): boolean {
		const said = parsed(frame);
		if (frame.event === 'delta_encoding') {
			if (said !== 'v1') throw new BadDelta(`an encoding we do not know: ${frame.data}`);
			return false;
		}
		if (frame.event === 'delta') {
			this.#decoder.take(said as Delta);
			return true;
		}
		return this.#hear(said as SideEvent);
	}

	#hear(event: SideEvent): boolean {
		switch (event.type) {
			case 'stream_resumed':
				this.#decoder.carry = event.carry;
				return false;
			case 'stream_snapshot':
				this.#decoder = Decoder.at(event.channels, event.carry);
				this.seq = event.seq;
				return true;
			case 'message_stream_complete':
				this.proofs = event.messages;
				return false;
			default:
				this.note(event);
				return false;
		}
	}
}

/** Whether it is a part of the prompt that travels as a message: it has no place among them. */
export function isHidden({ metadata }: Message): boolean {
	return metadata.is_visually_hidden_from_conversation === true;
}

function parsed({ data }: Frame): unknown {
	try {
		return JSON.parse(data);
	} catch {
		throw new BadDelta(`not JSON: ${data.slice(0, 80)}`);
	}
}
