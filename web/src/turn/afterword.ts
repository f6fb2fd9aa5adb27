/**
 * What follows an answer: the end of its stream, and perhaps a better title or a suggested memory,
 * up to half a minute later. Waiting for those over HTTP holds one of the six connections that all
 * tabs of a browser share, and the next Send needs one: so of all tabs without a socket, only the
 * one that started to wait last keeps waiting.
 */
import type { Frame } from '$/api/stream';

/** The end follows at once. Reading it keeps the connection reusable. */
const END_WAIT_MS = 1_000;
const AFTERWORD_WAIT_MS = 30_000;
/** A stream that waits over HTTP announces it here, and ends all other such waits. */
const CHANNEL = 'hitsend.afterword';

interface Reader {
	receive: (frame: Frame) => void;
	/** Has to end the frames. */
	stop: () => void;
}

export function readEnd(frames: AsyncGenerator<Frame>, reader: Reader): Promise<void> {
	return readRest(frames, reader, END_WAIT_MS);
}

/** `isOverHttp`: the wait holds a connection. */
export async function readAfterword(
	frames: AsyncGenerator<Frame>,
	reader: Reader,
	isOverHttp: boolean
): Promise<void> {
	const channel = isOverHttp ? new BroadcastChannel(CHANNEL) : null;
	if (channel) channel.onmessage = reader.stop;
	channel?.postMessage(null);
	try {
		await readRest(frames, reader, AFTERWORD_WAIT_MS);
	} finally {
		channel?.close();
	}
}

/** Reads until the stream ends or the wait is over. */
async function readRest(
	frames: AsyncGenerator<Frame>,
	{ receive, stop }: Reader,
	waitMs: number
): Promise<void> {
	const timer = setTimeout(stop, waitMs);
	try {
		for await (const frame of frames) {
			if (frame.data === '[DONE]') return;
			receive(frame);
		}
	} finally {
		clearTimeout(timer);
	}
}
