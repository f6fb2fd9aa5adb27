import { expect, test } from 'vitest';
import { Dropped, readFrames, type Frame } from './stream';

const bytes = new TextEncoder();

function body(chunks: Uint8Array[]): ReadableStream<Uint8Array<ArrayBuffer>> {
	return new ReadableStream({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(new Uint8Array(chunk));
			controller.close();
		}
	});
}

async function all(chunks: Uint8Array[]): Promise<Frame[]> {
	const frames: Frame[] = [];
	for await (const frame of readFrames(body(chunks))) frames.push(frame);
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

test('frames come out whole wherever the bytes were cut', async () => {
	const whole = bytes.encode(TEXT);
	for (let at = 0; at <= whole.length; at++) {
		expect(await all([whole.slice(0, at), whole.slice(at)])).toEqual(FRAMES);
	}
});

test('frames come out whole from single bytes', async () => {
	expect(await all([...bytes.encode(TEXT)].map((byte) => Uint8Array.of(byte)))).toEqual(FRAMES);
});

test('half a frame at the end of the stream is not a frame', async () => {
	expect(await all([bytes.encode('data: {"v":"hal')])).toEqual([]);
});

test('a stream that says nothing for too long counts as gone', async () => {
	const silent = new ReadableStream<Uint8Array>();

	await expect(readFrames(silent, 5).next()).rejects.toThrow(Dropped);
});

test('a stream that breaks counts as gone', async () => {
	const broken = new ReadableStream<Uint8Array>({
		start: (controller) => controller.error(new TypeError('network error'))
	});

	await expect(readFrames(broken).next()).rejects.toThrow(Dropped);
});

test('leaving a stream closes it', async () => {
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
