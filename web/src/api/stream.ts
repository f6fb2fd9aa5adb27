/** Reads Server-Sent Events from a response. Knows nothing of turns, and nothing of Svelte. */
import { createParser } from 'eventsource-parser';

export interface Frame {
	/** The sequence number of the last event of the turn this frame covers, if it covers one. */
	seq: number | null;
	event: string;
	data: string;
}

/** The server sends a heartbeat every ten seconds. */
const SILENCE_MS = 25_000;

/** The connection broke, or was silent for too long. */
export class Dropped extends Error {}

/** Parses a text of complete frames. */
export function parseFrames(text: string): Frame[] {
	const frames: Frame[] = [];
	createParserInto(frames).feed(text);
	return frames;
}

export async function* readFrames(
	body: ReadableStream<Uint8Array>,
	silenceMs = SILENCE_MS
): AsyncGenerator<Frame> {
	const ready: Frame[] = [];
	const parser = createParserInto(ready);
	const reader = body.getReader();
	const decoder = new TextDecoder();
	try {
		for (;;) {
			const { done, value } = await readChunk(reader, silenceMs);
			parser.feed(decoder.decode(value, { stream: !done }));
			yield* ready.splice(0);
			if (done) return;
		}
	} finally {
		// Closes the connection when the reader stops early. It may be closed already.
		reader.cancel().catch(() => undefined);
	}
}

function createParserInto(frames: Frame[]) {
	return createParser({
		onEvent: ({ id, event, data }) =>
			frames.push({ seq: id === undefined ? null : Number(id), event: event ?? 'message', data })
	});
}

async function readChunk(reader: ReadableStreamDefaultReader<Uint8Array>, silenceMs: number) {
	let timer: ReturnType<typeof setTimeout> | undefined;
	const silence = new Promise<never>((_, reject) => {
		timer = setTimeout(() => reject(new Dropped('The connection is silent.')), silenceMs);
	});
	const broken = (error: unknown) => {
		throw new Dropped('The connection broke.', { cause: error });
	};
	try {
		return await Promise.race([reader.read().catch(broken), silence]);
	} finally {
		clearTimeout(timer);
	}
}
