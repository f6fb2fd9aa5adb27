import { expect, test, vi } from 'vitest';
import type { Message } from '$/api/wire';
import { LastAnswer } from '$/chat/lastAnswer';
import { joinMessages, type PathEntry } from '$/state/messageTree';
import { en } from '$/words/en';

const ASKED = {
	sendOptions: { model: 'auto', sampling: {}, features: ['time'] },
	repeatOptions: { model: 'auto', sampling: {} }
};

function message(role: 'user' | 'assistant', id: string, text: string, more: object = {}): Message {
	return {
		id,
		author: { role },
		content: { content_type: 'text', parts: [text] },
		status: 'finished_successfully',
		create_time: 1,
		metadata: {},
		...more
	} as unknown as Message;
}

function buildLastAnswer(...places: Message[][]) {
	const messages = new Map(places.flat().map((message) => [message.id, message]));
	const messagesAt = ({ ids }: PathEntry) => ids.flatMap((id) => messages.get(id) ?? []);
	const messageAt = (place: PathEntry) => joinMessages(messagesAt(place));
	const open = {
		path: places.map((place): PathEntry => {
			const ids = place.map(({ id }) => id);
			return { id: ids[0] ?? '', ids, alternatives: [] };
		}),
		messageAt,
		messagesAt,
		message: (id: string) => messages.get(id) ?? null,
		turn: null,
		isAnswering: false,
		answer: vi.fn(() => Promise.resolve()),
		answerAgain: vi.fn(() => Promise.resolve())
	};
	return { open, last: new LastAnswer(() => open, en) };
}

const QUESTION = message('user', 'q1', 'Why?');
const ANSWER = message('assistant', 'a1', 'Because.');

test('an answer without text is skipped', () => {
	const { last } = buildLastAnswer(
		[QUESTION],
		[ANSWER],
		[message('user', 'q2', 'And?')],
		[message('assistant', 'a2', '', { status: 'failed' })]
	);

	expect(last.text).toBe('Because.');
	expect(last.leafId).toBe('a2');
	expect(last.canContinue).toBe(false);
});

test('an unanswered question is answered, not answered again', async () => {
	const { last, open } = buildLastAnswer([QUESTION]);
	expect(last.text).toBe('');

	await last.answerAgain(ASKED);
	expect(open.answer).toHaveBeenCalledWith('q1', ASKED.sendOptions);
	expect(open.answerAgain).not.toHaveBeenCalled();
});

test('a continued answer is one text, and is continued from its end', async () => {
	const stopped = { status: 'finished_partial_completion' };
	const rest = message('assistant', 'a2', ' That is', stopped);
	const { last, open } = buildLastAnswer([QUESTION], [ANSWER, rest]);
	expect(last.text).toBe('Because. That is');
	expect(last.canContinue).toBe(true);

	await last.answerAgain(ASKED);
	expect(open.answerAgain).toHaveBeenCalledWith('a2', ASKED.repeatOptions);
});

test('there is no last answer while one is running', () => {
	const { last, open } = buildLastAnswer([QUESTION], [ANSWER]);
	open.isAnswering = true;
	expect([last.text, last.turnId, last.canContinue]).toEqual(['', '', false]);
});
