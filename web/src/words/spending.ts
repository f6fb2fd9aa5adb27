/** The words of limits, groups, usage and prices. */
import { spending as de } from '$/words/de/spending';
import { spending as en } from '$/words/en/spending';
import { createCatalogue } from '$/words/words';

export type SpendingWords = typeof en;

export const spendingWords = createCatalogue<SpendingWords>(en, de);
