/** The words of memories, the profile and the context of an answer. */
import { memory as de } from '$/words/de/memory';
import { memory as en } from '$/words/en/memory';
import { createCatalogue } from '$/words/words';

export type MemoryWords = typeof en;

export const memoryWords = createCatalogue<MemoryWords>(en, de);
