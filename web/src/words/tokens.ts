/** The words of the tokenizer page. */
import { tokens as de } from '$/words/de/tokens';
import { tokens as en } from '$/words/en/tokens';
import { createCatalogue } from '$/words/words';

export type TokensWords = typeof en;

export const tokensWords = createCatalogue<TokensWords>(en, de);
