/** Has the work done by a worker, which ends with it, or when nobody waits for it any more. */
import type { Task } from '$/gate/solve';

/** Some browsers and policies allow no workers. */
export class NoWorker extends Error {}

export type Work = (task: Task, signal: AbortSignal) => Promise<string>;

export const inWorker: Work = (task, signal) => done(start, task, signal);

/** `begin` starts the worker. */
export async function done(begin: () => Worker, task: Task, signal: AbortSignal): Promise<string> {
	signal.throwIfAborted();
	const worker = begun(begin);
	const over = new AbortController();
	try {
		return await new Promise((resolve, reject) => {
			worker.onmessage = ({ data }: MessageEvent<string>) => resolve(data);
			worker.onerror = () => reject(new NoWorker('The worker could not start.'));
			const leave = () => reject(signal.reason as Error);
			signal.addEventListener('abort', leave, { signal: over.signal });
			worker.postMessage(task);
		});
	} finally {
		over.abort();
		worker.terminate();
	}
}

function start(): Worker {
	return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
}

function begun(begin: () => Worker): Worker {
	try {
		return begin();
	} catch (error) {
		throw new NoWorker('The worker could not start.', { cause: error });
	}
}
