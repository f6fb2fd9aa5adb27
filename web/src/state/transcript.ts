/** A conversation as a page of Markdown: what is shown of it, from the first message to the last. */
import type { Conversation } from '$/state/conversation.svelte';
import type { Words } from '$/words/words';

/** Longer names are refused by some file systems. */
const MOST_NAME_CHARS = 80;

type Read = Pick<Conversation, 'title' | 'path' | 'read'>;

export function markdownOf(conversation: Read, t: Words): string {
	const said = conversation.path.flatMap((place) => {
		const message = conversation.read(place);
		const role = message?.author.role;
		if (role !== 'user' && role !== 'assistant') return [];
		const who = role === 'user' ? t.chat.you : t.chat.answer;
		return [`## ${who}\n\n${message?.content.parts.join('') ?? ''}\n`];
	});
	return [`# ${titleOf(conversation, t)}\n`, ...said].join('\n');
}

/** What no file system minds. */
export function fileNameOf(conversation: Read, t: Words): string {
	const plain = titleOf(conversation, t).replaceAll(/[\p{C}<>:"/\\|?*]+/gu, ' ');
	const short = plain.replaceAll(/\s+/g, ' ').trim().slice(0, MOST_NAME_CHARS);
	return `${short.replace(/[ .]+$/, '') || 'hitsend'}.md`;
}

function titleOf({ title }: Read, t: Words): string {
	return title === '' ? t.sidebar.untitled : title;
}
