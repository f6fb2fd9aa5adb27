/** The words of two-step sign-in in the settings. */
import { secondFactor as de } from '$/words/de/secondFactor';
import { secondFactor as en } from '$/words/en/secondFactor';
import { createCatalogue } from '$/words/words';

export type SecondFactorWords = typeof en;

export const secondFactorWords = createCatalogue<SecondFactorWords>(en, de);
