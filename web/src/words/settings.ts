/** The words of the settings, those of administrators included. */
import { settings as de } from '$/words/de/settings';
import { settings as en } from '$/words/en/settings';
import { createCatalogue } from '$/words/words';

export type SettingsWords = typeof en;

export const settingsWords = createCatalogue<SettingsWords>(en, de);
