/** The words of tool servers in the settings. */
import { servers as de } from '$/words/de/servers';
import { servers as en } from '$/words/en/servers';
import { createCatalogue } from '$/words/words';

export type ServerWords = typeof en;

export const serverWords = createCatalogue<ServerWords>(en, de);
