/** The words of safety: notices in the conversation, reviews, policies and statistics. */
import { moderation as de } from '$/words/de/moderation';
import { moderation as en } from '$/words/en/moderation';
import { createCatalogue } from '$/words/words';

export type ModerationWords = typeof en;

export const moderationWords = createCatalogue<ModerationWords>(en, de);
