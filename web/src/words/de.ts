/** German, all of it. */
import type { Words } from '$/words/words';
import { chat } from '$/words/de/chat';
import { composer } from '$/words/de/composer';
import { desk } from '$/words/de/desk';
import { inspector } from '$/words/de/inspector';
import { markdown } from '$/words/de/markdown';
import { models } from '$/words/de/models';
import { palette } from '$/words/de/palette';
import { problems } from '$/words/de/problems';
import { settings } from '$/words/de/settings';
import { shared } from '$/words/de/shared';
import { sidebar } from '$/words/de/sidebar';
import { ui } from '$/words/de/ui';
import { wayIn } from '$/words/de/wayIn';
import { welcome } from '$/words/de/welcome';
import { numbersIn } from '$/words/numbers';

export const de: Words = {
	chat,
	composer,
	desk,
	inspector,
	markdown,
	models,
	numbers: numbersIn('de'),
	palette,
	problems,
	settings,
	shared,
	sidebar,
	ui,
	wayIn,
	welcome
};
