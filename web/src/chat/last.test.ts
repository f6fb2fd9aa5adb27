import { expect, test, vi } from 'vitest';
import type { Message } from '$/api/wire';
import { Last } from '$/chat/last';
import { joined, type Place } from '$/state/tree';
import { en } from '$/words/en';

const ASK = { model: 'auto', sampling: {} };

function said(role: 'user' | 'assistant', id: string, text: string, more: object = {}): Message {
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

function lastOf(...places: Message[][]) {
	const messages = new Map(places.flat().map((message) => [message.id, message]));
	const read = ({ ids }: Place) => joined(ids.flatMap((id) => messages.get(id) ?? []));
	const open = {
		path: places.map((place): Place => {
			const ids = place.map(({ id }) => id);
			return { id: ids[0] ?? '', ids, alternatives: [] };
		}),
		read,
		message: (id: string) => messages.get(id) ?? null,
		turn: null,
		isAnswering: false,
		answer: vi.fn(() => Promise.resolve()),
		answerAgain: vi.fn(() => Promise.resolve())
	};
	return { open, last: new Last(() => open, en) };
}

const QUESTION = said('user', 'q1', 'Why?');
const ANSWER = said('assistant', 'a1', 'Because.');

test('an answer without a word is passed over for one that has some', () => {
	const { last } = lastOf(
		[QUESTION],
		[ANSWER],
		[said('user', 'q2', 'And?')],
		[said('assistant', 'a2', '', { status: 'failed' })]
	);

	expect(last.words).toBe('Because.');
	expect(last.leaf).toBe('a2');
	expect(last.isCutShort).toBe(false);
});

test('a question is no answer, and is answered when another try is wanted', async () => {
	const { last, open } = lastOf([QUESTION]);
	expect(last.words).toBe('');

	await last.answerAgain(ASK);
	expect(open.answer).toHaveBeenCalledWith('q1', ASK);
	expect(open.answerAgain).not.toHaveBeenCalled();
});

test('an answer that was continued is read as one, and goes on from its end', async () => {
	const stopped = { status: 'finished_partial_completion' };
	const rest = said('assistant', 'a2', ' That is', stopped);
	const { last, open } = lastOf([QUESTION], [ANSWER, rest]);
	expect(last.words).toBe('Because. That is');
	expect(last.isCutShort).toBe(true);

	await last.answerAgain(ASK);
	expect(open.answerAgain).toHaveBeenCalledWith('a2', ASK);
});

test('while an answer is written there is no last one', () => {
	const { last, open } = lastOf([QUESTION], [ANSWER]);
	open.isAnswering = true;
	expect([last.words, last.turnId, last.isCutShort]).toEqual(['', '', false]);
});
