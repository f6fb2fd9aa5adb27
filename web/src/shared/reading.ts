/** What there is to read in a conversation: who said what, an answer in several messages as one. */
import type { Message } from '$/api/wire';

export interface Said {
	id: string;
	who: 'person' | 'model';
	text: string;
}

export function reading(messages: Message[]): Said[] {
	const all: Said[] = [];
	for (const { id, author, content } of messages) {
		const text = content.parts.join('');
		const before = all.at(-1);
		if (author.role === 'user') all.push({ id, who: 'person', text });
		else if (author.role !== 'assistant') continue;
		// An answer that was cut short and continued goes on where it ended, also within a word.
		else if (before?.who === 'model') before.text += text;
		else all.push({ id, who: 'model', text });
	}
	return all;
}
