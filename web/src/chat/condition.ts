/** What keeps the engine from answering right now, and the sentence that says so. */
import type { Engine } from '$/state/engine.svelte';
import type { Words } from '$/words/words';

type Condition = 'offline' | 'unreachable' | 'starting' | 'restarting' | 'down';

/**
 * The nearest cause first: whoever is cut off cannot know how the engine is. Being offline is
 * no cause by itself, because the server may be on this very machine.
 */
export function conditionOf(engine: Engine, isOnline: boolean): Condition | null {
	if (!engine.isReachable) return isOnline ? 'unreachable' : 'offline';
	const state = engine.status?.state ?? 'ready';
	return state === 'ready' ? null : state;
}

/** The server's own words say best why nothing answers. */
export function sentenceAbout(condition: Condition, engine: Engine, { models }: Words): string {
	if (condition !== 'down') return models[condition];
	return `${models.down} ${engine.status?.detail ?? ''}`.trim();
}
