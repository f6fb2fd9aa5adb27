/** The worker of `solveInWorker`. */
import { solve, type Task } from '$/proof_of_work/solve';

addEventListener('message', ({ data }: MessageEvent<Task>) => postMessage(solve(data)));
