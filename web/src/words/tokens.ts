/** The words of the tokenizer page. They come with it, in every language. */
import { tokens as de } from '$/words/de/tokens';
import { tokens as en } from '$/words/en/tokens';
import type { Language } from '$/words/words';

export type TokensWords = typeof en;

const SPOKEN: Record<Language, TokensWords> = { en, de };

/** In the language of the page. */
export function tokensWords(language = document.documentElement.lang): TokensWords {
	return SPOKEN[language as Language] ?? en;
}
