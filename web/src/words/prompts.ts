/** The words of prompts, comparisons and the log of changes. */
import { prompts as de } from '$/words/de/prompts';
import { prompts as en } from '$/words/en/prompts';
import { createCatalogue } from '$/words/words';

export type PromptWords = typeof en;

export const promptWords = createCatalogue<PromptWords>(en, de);
