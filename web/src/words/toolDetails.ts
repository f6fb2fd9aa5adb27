/** The words inside the call of a tool, and of the settings of tools. */
import { toolDetails as de } from '$/words/de/toolDetails';
import { toolDetails as en } from '$/words/en/toolDetails';
import { createCatalogue } from '$/words/words';

export type ToolWords = typeof en;

export const toolWords = createCatalogue<ToolWords>(en, de);
