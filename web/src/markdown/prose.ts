/** Loads the Markdown renderer after the first paint, so that the message field appears sooner. */
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
