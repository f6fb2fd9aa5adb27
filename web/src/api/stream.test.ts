import { expect, test } from 'vitest';
import { Dropped, readFrames, type Frame } from './stream';

const bytes = new TextEncoder();

function createStream(chunks: Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> {
	return new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
			controller.close();
		}
	});
}

async function readAll(chunks: Uint8Array[]): Promise<Frame[]> {
	const frames: Frame[] = [];
	for await (const frame of readFrames(createStream(chunks))) frames.push(frame);
	return frames;
}

const TEXT =
	'\uFEFF: ping 1\n\nid: 7\nevent: delta\ndata: {"v":"ñ🙂"}  \n\n' +
	'data: {"type":"x"}\r\n\r\n: ping 2\n\ndata: [DONE]\n\n';
const FRAMES: Frame[] = [
	{ seq: 7, event: 'delta', data: '{"v":"ñ🙂"}  ' },
	{ seq: null, event: 'message', data: '{"type":"x"}' },
	{ seq: null, event: 'message', data: '[DONE]' }
];

test('frames are read whole wherever the bytes are split', async () => {
	const whole = bytes.encode(TEXT);
	for (let at = 0; at <= whole.length; at++) {
		expect(await readAll([whole.slice(0, at), whole.slice(at)])).toEqual(FRAMES);
	}
});

test('frames are read whole from single bytes', async () => {
	expect(await readAll([...bytes.encode(TEXT)].map((byte) => Uint8Array.of(byte)))).toEqual(FRAMES);
});

test('half a frame at the end of the stream is not a frame', async () => {
	expect(await readAll([bytes.encode('data: {"v":"hal')])).toEqual([]);
});

test('a stream that is silent for too long is dropped', async () => {
	const silent = new ReadableStream<Uint8Array>();

	await expect(readFrames(silent, 5).next()).rejects.toThrow(Dropped);
});

test('a broken stream is dropped', async () => {
	const broken = new ReadableStream<Uint8Array>({
		start: (controller) => controller.error(new TypeError('network error'))
	});

	await expect(readFrames(broken).next()).rejects.toThrow(Dropped);
});

test('a reader that stops early closes the stream', async () => {
	let isClosed = false;
	const endless = new ReadableStream<Uint8Array>({
		pull: (controller) => controller.enqueue(bytes.encode('data: x\n\n')),
		cancel: () => void (isClosed = true)
	});
	for await (const frame of readFrames(endless)) {
		expect(frame.data).toBe('x');
		break;
	}
	expect(isClosed).toBe(true);
});
