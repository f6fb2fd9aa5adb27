import { expect, test } from 'vitest';
import { ROOT } from '$/api/wire';
import { buildAnswerBody, buildSendBody } from '$/state/sendBody';

const OPTIONS = { model: 'auto', sampling: {} };
const OUTGOING = {
	id: 'm1',
	text: 'Hello',
	conversationId: null,
	parent: null,
	edits: null,
	ask: OPTIONS,
	isWaiting: false
};
const COMMON = {
	model: 'auto',
	conversation_mode: { kind: 'primary_assistant' },
	supports_buffering: true,
	supported_encodings: ['v1']
};

test('a Send has the fields of the public protocol, and no conversation id in a new chat', () => {
	const body = buildSendBody(OUTGOING);

	expect(body).toMatchObject({ ...COMMON, action: 'next', parent_message_id: ROOT });
	expect(body.system_hints).toEqual([]);
	expect(body).not.toHaveProperty('conversation_id');
});

test('a request for another answer has the fields of the public protocol', () => {
	const body = buildAnswerBody('variant', 'q1', OPTIONS, 'c1');

	expect(body).toMatchObject({ ...COMMON, action: 'variant', conversation_id: 'c1' });
});

test('the features that are on go with a message, and with another answer that chooses them', () => {
	const options = { ...OPTIONS, features: ['code', 'time'] };

	expect(buildSendBody({ ...OUTGOING, ask: options }).system_hints).toEqual(['code', 'time']);
	expect(buildAnswerBody('variant', 'q1', options, 'c1').system_hints).toEqual(['code', 'time']);
});

test('an answer that is asked for again leaves it to the server what was on', () => {
	expect(buildSendBody({ ...OUTGOING, ask: OPTIONS }).system_hints).toEqual([]);
	expect(buildAnswerBody('variant', 'q1', OPTIONS, 'c1')).not.toHaveProperty('system_hints');
	const none = { ...OPTIONS, features: [] };
	expect(buildAnswerBody('variant', 'q1', none, 'c1').system_hints).toEqual([]);
});

test('a continuation may bring decisions about calls', () => {
	const verdict = { call_id: 'k1', decision: 'once' as const };

	expect(buildAnswerBody('continue', 'x1', OPTIONS, 'c1', [verdict]).verdicts).toEqual([verdict]);
	expect(buildAnswerBody('continue', 'x1', OPTIONS, 'c1')).not.toHaveProperty('verdicts');
});
