/**
 * The words of memories, of the profile and of what a model saw. They come with those pages, in
 * every language: whoever only writes messages never fetches them.
 */
import { memory as de } from '$/words/de/memory';
import { memory as en } from '$/words/en/memory';
import type { Language } from '$/words/words';

export type MemoryWords = typeof en;

const SPOKEN: Record<Language, MemoryWords> = { en, de };

/** In the language of the page. */
export function memoryWords(language = document.documentElement.lang): MemoryWords {
	return SPOKEN[language as Language] ?? en;
}
