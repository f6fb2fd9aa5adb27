/** The readable messages of a shared conversation, with a continued answer joined into one. */
import type { Message } from '$/api/wire';

export interface SharedMessage {
	id: string;
	author: 'person' | 'model';
	text: string;
}

export function joinAnswers(messages: Message[]): SharedMessage[] {
	const joined: SharedMessage[] = [];
	for (const {
		id,
		author: { role },
		content
	} of messages) {
		const text = content.parts.join('');
		const last = joined.at(-1);
		if (role === 'user') joined.push({ id, author: 'person', text });
		else if (role !== 'assistant') continue;
		// A continued answer goes on where it was cut, even within a word.
		else if (last?.author === 'model') last.text += text;
		else joined.push({ id, author: 'model', text });
	}
	return joined;
}
