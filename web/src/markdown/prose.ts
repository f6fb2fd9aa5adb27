/** Loads the Markdown renderer when there will be something to draw: it is a fifth of the page. */
import type { Component } from 'svelte';
import { fetchOnce } from '$/markdown/fetchOnce';

export type Prose = Component<{ text: string; isFinished: boolean }>;

let loaded: Prose | null = null;

/** Null until it is loaded. */
export function getLoadedProse(): Prose | null {
	return loaded;
}

export const fetchProse = fetchOnce(async () => {
	loaded = (await import('$/markdown/Prose.svelte')).default;
	return loaded;
});
