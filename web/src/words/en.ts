/** All English words. Every other language has the same keys. */
import { attachments } from '$/words/en/attachments';
import { chat } from '$/words/en/chat';
import { composer } from '$/words/en/composer';
import { workspace } from '$/words/en/workspace';
import { markdown } from '$/words/en/markdown';
import { models } from '$/words/en/models';
import { palette } from '$/words/en/palette';
import { problems } from '$/words/en/problems';
import { shared } from '$/words/en/shared';
import { sidebar } from '$/words/en/sidebar';
import { ui } from '$/words/en/ui';
import { signIn } from '$/words/en/signIn';
import { tools } from '$/words/en/tools';
import { welcome } from '$/words/en/welcome';
import { createNumberFormats } from '$/words/numbers';

export const en = {
	attachments,
	chat,
	composer,
	workspace,
	markdown,
	models,
	numbers: createNumberFormats('en'),
	palette,
	problems,
	shared,
	sidebar,
	ui,
	signIn,
	tools,
	welcome
};
