/** Finds and describes what keeps the engine from answering, or answers from being stored. */
import type { Engine } from '$/state/engine.svelte';
import type { Words } from '$/words/words';

type EngineProblem =
	| 'offline'
	| 'unreachable'
	| 'disk_full'
	| 'database_damaged'
	| 'store_down'
	| 'starting'
	| 'restarting'
	| 'down';

/**
 * A lost connection comes first: without it the state of the engine is unknown. Being offline
 * alone is no problem, because the server may run on this machine.
 */
export function findEngineProblem(engine: Engine, isOnline: boolean): EngineProblem | null {
	if (!engine.isReachable) return isOnline ? 'unreachable' : 'offline';
	if (engine.status === null) return null;
	const { store, state } = engine.status;
	if (store !== 'ready') return store;
	return state === 'ready' ? null : state;
}

/** Adds the server's detail if the engine is down. */
export function describeEngineProblem(
	problem: EngineProblem,
	engine: Engine,
	{ models }: Words
): string {
	if (problem !== 'down') return models[problem];
	return `${models.down} ${engine.status?.detail ?? ''}`.trim();
}
