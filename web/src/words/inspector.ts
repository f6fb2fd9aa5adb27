/** The words of "Look inside". */
import { inspector as de } from '$/words/de/inspector';
import { inspector as en } from '$/words/en/inspector';
import { createCatalogue } from '$/words/words';

export type InspectorWords = typeof en;

export const inspectorWords = createCatalogue<InspectorWords>(en, de);
