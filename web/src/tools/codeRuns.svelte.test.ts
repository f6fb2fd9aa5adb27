import { expect, test } from 'vitest';
import { Unreachable } from '$/api/http';
import type { CodeResult } from '$/api/wire';
import { CodeRuns } from '$/tools/codeRuns.svelte';

const RESULT: CodeResult = { output: '42', failed: false, files: [] };

/** Runs that end when the test says so. */
function openRuns(conversationId: string | null = 'c1') {
	const sent: { code: string; end: (result: CodeResult) => void; fail: () => void }[] = [];
	const runCode = (_: string, code: string, _zone: string, signal: AbortSignal) =>
		new Promise<CodeResult>((resolve, reject) => {
			const fail = () => reject(new Unreachable());
			signal.addEventListener('abort', fail);
			sent.push({ code, end: resolve, fail });
		});
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
