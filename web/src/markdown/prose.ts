/**
 * What Markdown is read and cleaned with, fetched while the page is drawn: nobody needs it
 * before the first answer, and the message field is there sooner without it.
 */
import type { Component } from 'svelte';
import { fetchedOnce } from '$/markdown/fetched';

export type Prose = Component<{ text: string; isFinished: boolean }>;

let come: Prose | null = null;

/** Null until it has come. */
export function prose(): Prose | null {
	return come;
}

export const fetchProse = fetchedOnce(async () => {
	come = (await import('$/markdown/Prose.svelte')).default;
	return come;
});
