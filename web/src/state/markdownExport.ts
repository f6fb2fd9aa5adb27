/** Exports the shown branch of a conversation as Markdown. */
import { restoreValues } from '$/safety/redactions';
import type { Conversation } from '$/state/conversation.svelte';
import type { Words } from '$/words/words';

/** Some file systems refuse longer names. */
const MAX_NAME_CHARS = 80;

type Exported = Pick<Conversation, 'title' | 'path' | 'messageAt' | 'redactions'>;

export function downloadMarkdown(conversation: Exported, t: Words): void {
	const text = exportMarkdown(conversation, t);
	const url = URL.createObjectURL(new Blob([text], { type: 'text/markdown' }));
	const link = document.createElement('a');
	link.href = url;
	link.download = buildFileName(conversation, t);
	link.click();
	URL.revokeObjectURL(url);
}

export function exportMarkdown(conversation: Exported, t: Words): string {
	const messages = conversation.path.flatMap((entry) => {
		const message = conversation.messageAt(entry);
		const role = message?.author.role;
		if (role !== 'user' && role !== 'assistant') return [];
		const author = role === 'user' ? t.chat.you : t.chat.answer;
		const text = message?.content.parts.join('') ?? '';
		return [`## ${author}\n\n${restoreValues(text, conversation.redactions)}\n`];
	});
	return [`# ${getTitle(conversation, t)}\n`, ...messages].join('\n');
}

/** A file name that is valid on every file system. */
export function buildFileName(conversation: Exported, t: Words): string {
	const plain = getTitle(conversation, t).replaceAll(/[\p{C}<>:"/\\|?*]+/gu, ' ');
	const short = plain.replaceAll(/\s+/g, ' ').trim().slice(0, MAX_NAME_CHARS);
	return `${short.replace(/[ .]+$/, '') || 'hitsend'}.md`;
}

function getTitle({ title }: Exported, t: Words): string {
	return title === '' ? t.sidebar.untitled : title;
}
