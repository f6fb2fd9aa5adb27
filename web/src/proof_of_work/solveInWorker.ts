/** Solves the proof of work in a worker, which ends with the solution or when aborted. */
import type { Task } from '$/proof_of_work/solve';

/** Some browsers and content policies allow no workers. */
export class NoWorker extends Error {}

export type Solve = (task: Task, signal: AbortSignal) => Promise<string>;

export const solveInWorker: Solve = (task, signal) => solveWith(startWorker, task, signal);

export async function solveWith(
	start: () => Worker,
	task: Task,
	signal: AbortSignal
): Promise<string> {
	signal.throwIfAborted();
	const worker = tryStart(start);
	const done = new AbortController();
	try {
		return await new Promise((resolve, reject) => {
			worker.onmessage = ({ data }: MessageEvent<string>) => resolve(data);
			worker.onerror = () => reject(new NoWorker('The worker could not start.'));
			const abort = () => reject(signal.reason as Error);
			signal.addEventListener('abort', abort, { signal: done.signal });
			worker.postMessage(task);
		});
	} finally {
		done.abort();
		worker.terminate();
	}
}

function startWorker(): Worker {
	return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
}

function tryStart(start: () => Worker): Worker {
	try {
		return start();
	} catch (error) {
		throw new NoWorker('The worker could not start.', { cause: error });
	}
}
