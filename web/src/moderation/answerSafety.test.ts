import { expect, test } from 'vitest';
import type { SafetyReason, Screening } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import { readSafety } from '$/moderation/answerSafety';
import { readExpected } from '$/turn/recordedTurns';

const message = (id: string, safety?: Partial<Screening>): Message => ({
	id,
	author: { role: 'assistant' },
	create_time: null,
	content: { content_type: 'text', parts: [''] },
	status: 'finished_successfully',
	metadata: safety === undefined ? {} : { safety: { stage: 'answer', outcome: 'allow', ...safety } }
});
const reason = (name: string, layer: SafetyReason['layer'] = 'classifier'): SafetyReason => ({
	layer,
	name
});
const read = (safety: Partial<Screening>) => readSafety(null, [message('a', safety)]);

test('a blocked message is explained by its rule, and a review is about the message', () => {
	const [question = null, ...answers] = readExpected('blocked').messages as Message[];
	expect(readSafety(question, answers).stopped).toEqual({
		kind: 'blocked',
		code: 'rule',
		messageId: question?.id
	});
});

test('a cut answer is said to have become harmful, and a review is about the answer', () => {
	const [question = null, ...answers] = readExpected('cut').messages as Message[];
	expect(readSafety(question, answers).stopped).toEqual({
		kind: 'cut',
		code: 'answer',
		messageId: answers[0]?.id
	});
});

test.each([
	[reason('illicit/violent'), 'weapons'],
	[reason('denied_phrase', 'rule'), 'rule'],
	[reason('unavailable'), 'unchecked'],
	[reason('something new'), 'other']
])('a message stopped by %j is explained as %s', (found, code) => {
	const question = message('q', { stage: 'prompt', outcome: 'block', reasons: [found] });
	const ours = message('a');
	ours.metadata.finish_details = { type: 'content_filter', reason: 'blocked' };
	expect(readSafety(question, [ours]).stopped?.code).toBe(code);
});

test('an allowed variant of a message that was blocked before is an ordinary answer', () => {
	const question = message('q', { stage: 'prompt', outcome: 'block', reasons: [] });
	expect(readSafety(question, [message('a')]).stopped).toBeNull();
});

test('what was taken out of any round is named once', () => {
	const rounds = [
		message('a', { outcome: 'rewrite', reasons: [reason('link', 'leak')] }),
		message('b', {
			outcome: 'rewrite',
			reasons: [reason('secret', 'leak'), reason('link', 'leak')]
		})
	];
	expect(readSafety(null, rounds).rewritten).toEqual({ messageId: 'b', kinds: ['link', 'secret'] });
});

test('a refusal, and a text that was not read whole, are told', () => {
	expect(read({ reasons: [reason('refusal', 'refusal')] }).isRefusal).toBe(true);
	expect(read({ is_complete: false }).isUnchecked).toBe(true);
	const asked = message('q', { stage: 'prompt', is_complete: false });
	expect(readSafety(asked, [message('a')]).isUnchecked).toBe(true);
});

test('an answer with care looks like any other', () => {
	expect(read({ outcome: 'caution', reasons: [reason('violence')] })).toEqual({
		stopped: null,
		rewritten: null,
		isRefusal: false,
		isUnchecked: false
	});
});
