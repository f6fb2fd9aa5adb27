/** Beside the page, so that it does not stand still: is given a task, and says what solves it. */
import { solve, type Task } from '$/gate/solve';

addEventListener('message', ({ data }: MessageEvent<Task>) => postMessage(solve(data)));
