import { expect, test, vi } from 'vitest';
import type { CodeResult } from '$/api/wire';
import { CodeRuns } from '$/tools/codeRuns.svelte';

const RESULT: CodeResult = { output: '42', failed: false, files: [] };

/** Runs that print and end when the test says so. */
function openRuns(conversationId: string | null = 'c1') {
	const sent: {
		messageId: string;
		print: (text: string) => void;
		end: (result: CodeResult) => void;
		refuse: (message: string) => void;
		fail: () => void;
	}[] = [];
	const runCode = (
		_conversation: string,
		messageId: string,
		_code: string,
		_zone: string,
		signal: AbortSignal
	) => {
		const stream = new TransformStream<Uint8Array, Uint8Array>();
		const writer = stream.writable.getWriter();
		const write = (event: string, data: unknown) =>
			void writer.write(
				new TextEncoder().encode(`event:${event}\ndata: ${JSON.stringify(data)}\n\n`)
			);
		const fail = () => void writer.abort(new Error('gone')).catch(() => undefined);
		signal.addEventListener('abort', fail);
		sent.push({
			messageId,
			print: (text) => write('printed', { text }),
			end: (result) => write('result', result),
			refuse: (message) => write('error', { error: { message, code: 'unavailable' } }),
			fail
		});
		return Promise.resolve(new Response(stream.readable));
	};
	return { sent, runs: new CodeRuns({ runCode }, () => conversationId) };
}

test('only Python in a stored conversation can be run', () => {
	expect(openRuns().runs.canRun('Python')).toBe(true);
	expect(openRuns().runs.canRun('py')).toBe(true);
	expect(openRuns().runs.canRun('javascript')).toBe(false);
	expect(openRuns(null).runs.canRun('python')).toBe(false);
});

test('the output of a program is kept by its answer and its code', async () => {
	const { runs, sent } = openRuns();
	const running = runs.run('a1', 'print(42)');
	expect(runs.find('a1', 'print(42)')?.isRunning).toBe(true);
	sent[0]?.end(RESULT);
	await running;

	expect(runs.find('a1', 'print(42)')?.result).toEqual(RESULT);
	expect(runs.find('a2', 'print(42)')).toBeNull();
});

test('what a program prints is shown while it runs', async () => {
	const { runs, sent } = openRuns();
	const running = runs.run('a1', 'count()');
	const run = runs.find('a1', 'count()');
	sent[0]?.print('1\n');
	sent[0]?.print('2\n');
	await vi.waitFor(() => expect(run?.output).toBe('1\n2\n'));
	expect(run?.isRunning).toBe(true);
	sent[0]?.end({ ...RESULT, output: '1\n2' });
	await running;

	expect(run?.output).toBe('1\n2');
	expect(sent[0]?.messageId).toBe('a1');
});

test('a program that cannot be run says why', async () => {
	const { runs, sent } = openRuns();
	const running = runs.run('a1', '1');
	sent[0]?.refuse('Too many programs are running.');
	await running;

	expect(runs.find('a1', '1')?.problem?.message).toBe('Too many programs are running.');
});

test('a program that is stopped has no output and no problem', async () => {
	const { runs } = openRuns();
	const running = runs.run('a1', 'while True: pass');
	runs.find('a1', 'while True: pass')?.stop();
	await running;

	expect(runs.find('a1', 'while True: pass')?.isStopped).toBe(true);
});

test('a failure is told, and the program can be run again', async () => {
	const { runs, sent } = openRuns();
	const failing = runs.run('a1', '1');
	sent[0]?.fail();
	await failing;
	expect(runs.find('a1', '1')?.problem).toMatchObject({ code: 'unreachable' });
	const again = runs.run('a1', '1');
	sent[1]?.end(RESULT);
	await again;

	expect(runs.find('a1', '1')?.problem).toBeNull();
	expect(runs.find('a1', '1')?.result).toEqual(RESULT);
});

test('hiding the output stops the program', async () => {
	const { runs } = openRuns();
	const running = runs.run('a1', '1');
	const run = runs.find('a1', '1');
	runs.remove('a1', '1');
	await running;

	expect(run?.isStopped).toBe(true);
	expect(runs.find('a1', '1')).toBeNull();
});
