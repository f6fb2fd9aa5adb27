/** English, all of it. Its shape is what every other language has to fill. */
import { chat } from '$/words/en/chat';
import { composer } from '$/words/en/composer';
import { desk } from '$/words/en/desk';
import { inspector } from '$/words/en/inspector';
import { markdown } from '$/words/en/markdown';
import { models } from '$/words/en/models';
import { palette } from '$/words/en/palette';
import { problems } from '$/words/en/problems';
import { settings } from '$/words/en/settings';
import { shared } from '$/words/en/shared';
import { sidebar } from '$/words/en/sidebar';
import { ui } from '$/words/en/ui';
import { wayIn } from '$/words/en/wayIn';
import { welcome } from '$/words/en/welcome';
import { numbersIn } from '$/words/numbers';

export const en = {
	chat,
	composer,
	desk,
	inspector,
	markdown,
	models,
	numbers: numbersIn('en'),
	palette,
	problems,
	settings,
	shared,
	sidebar,
	ui,
	wayIn,
	welcome
};
