/**
 * The words of limits, groups, usage and prices. They come with those pages, in every language:
 * whoever only writes messages never fetches them.
 */
import { spending as de } from '$/words/de/spending';
import { spending as en } from '$/words/en/spending';
import type { Language } from '$/words/words';

export type SpendingWords = typeof en;

const SPOKEN: Record<Language, SpendingWords> = { en, de };

/** In the language of the page. */
export function spendingWords(language = document.documentElement.lang): SpendingWords {
	return SPOKEN[language as Language] ?? en;
}
