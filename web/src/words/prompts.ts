/** The words of prompts and comparisons. */
import { prompts as de } from '$/words/de/prompts';
import { prompts as en } from '$/words/en/prompts';
import { createCatalogue } from '$/words/words';

export type PromptWords = typeof en;

export const promptWords = createCatalogue<PromptWords>(en, de);
