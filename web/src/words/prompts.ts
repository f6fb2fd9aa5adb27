/**
 * The words of prompts, comparisons and the log of changes. They come with those pages, in every
 * language: only administrators ever fetch them.
 */
import { prompts as de } from '$/words/de/prompts';
import { prompts as en } from '$/words/en/prompts';
import type { Language } from '$/words/words';

export type PromptWords = typeof en;

const SPOKEN: Record<Language, PromptWords> = { en, de };

/** In the language of the page. */
export function promptWords(language = document.documentElement.lang): PromptWords {
	return SPOKEN[language as Language] ?? en;
}
