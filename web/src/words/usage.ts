/** The words of limits, groups, usage and prices. */
import { usage as de } from '$/words/de/usage';
import { usage as en } from '$/words/en/usage';
import { createCatalogue } from '$/words/words';

export type UsageWords = typeof en;

export const usageWords = createCatalogue<UsageWords>(en, de);
