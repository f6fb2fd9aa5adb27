/**
 * What may follow an answer: a better title, up to half a minute later. Waiting for it holds one of
 * the six connections that all tabs of a browser have to a server (HTTP/1.1), and the next Send
 * wants one. So nobody waits for long where the socket tells of titles too; elsewhere one tab of
 * all does, the one that began last. What a frame says is not known here.
 */
import type { Frame } from '$/api/stream';

/** Most streams end with their answer. One that is left before it ends takes its connection along. */
const ENDING_MS = 1_000;
/** How long after an answer its title may come. */
const AFTERWORD_MS = 30_000;
/** Where whoever begins to wait says so to everybody else who does, in this tab or another. */
const CHANNEL = 'hitsend.afterword';

interface Listener {
	take: (frame: Frame) => void;
	/** Has to end the frames. */
	leave: () => void;
}

/** Reads on until nothing more comes, or it is time to leave. */
export async function hearOut(
	frames: AsyncGenerator<Frame>,
	isToldAnyway: boolean,
	{ take, leave }: Listener
): Promise<void> {
	const waiting = new BroadcastChannel(CHANNEL);
	const enough = setTimeout(leave, isToldAnyway ? ENDING_MS : AFTERWORD_MS);
	waiting.onmessage = leave;
	if (!isToldAnyway) waiting.postMessage(null);
	try {
		for await (const frame of frames) {
			if (frame.data === '[DONE]') return;
			take(frame);
		}
	} finally {
		clearTimeout(enough);
		waiting.close();
	}
}
