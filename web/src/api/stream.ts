/** Reads Server-Sent Events from a response. Knows nothing of turns, and nothing of Svelte. */
import { createParser } from 'eventsource-parser';

export interface Frame {
	/** The sequence number of the last event of the turn this frame covers, if it covers one. */
	seq: number | null;
	event: string;
	data: string;
}

/** A stream that is alive says something every ten seconds, if only a heartbeat. */
const SILENCE_MS = 25_000;

/** The connection broke, or went silent, which is as good as gone. */
export class Dropped extends Error {}

/** The frames of a text that holds whole ones. */
export function framesOf(text: string): Frame[] {
	const frames: Frame[] = [];
	parserInto(frames).feed(text);
	return frames;
}

export async function* readFrames(
	body: ReadableStream<Uint8Array>,
	silenceMs = SILENCE_MS
): AsyncGenerator<Frame> {
	const ready: Frame[] = [];
	const parser = parserInto(ready);
	const reader = body.getReader();
	const decoder = new TextDecoder();
	try {
		for (;;) {
			const { done, value } = await heard(reader, silenceMs);
			parser.feed(decoder.decode(value, { stream: !done }));
			yield* ready.splice(0);
			if (done) return;
		}
	} finally {
		// Leaving early (or in silence) must close the connection, and may find it closed already.
		reader.cancel().catch(() => undefined);
	}
}

function parserInto(frames: Frame[]) {
	return createParser({
		onEvent: ({ id, event, data }) =>
			frames.push({ seq: id === undefined ? null : Number(id), event: event ?? 'message', data })
	});
}

async function heard(reader: ReadableStreamDefaultReader<Uint8Array>, silenceMs: number) {
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
