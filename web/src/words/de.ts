/** All German words. */
import type { Words } from '$/words/words';
import { attachments } from '$/words/de/attachments';
import { chat } from '$/words/de/chat';
import { composer } from '$/words/de/composer';
import { workspace } from '$/words/de/workspace';
import { markdown } from '$/words/de/markdown';
import { models } from '$/words/de/models';
import { palette } from '$/words/de/palette';
import { problems } from '$/words/de/problems';
import { shared } from '$/words/de/shared';
import { sidebar } from '$/words/de/sidebar';
import { ui } from '$/words/de/ui';
import { signIn } from '$/words/de/signIn';
import { tools } from '$/words/de/tools';
import { welcome } from '$/words/de/welcome';
import { createNumberFormats } from '$/words/numbers';

export const de: Words = {
	attachments,
	chat,
	composer,
	workspace,
	markdown,
	models,
	numbers: createNumberFormats('de'),
	palette,
	problems,
	shared,
	sidebar,
	ui,
	signIn,
	tools,
	welcome
};
