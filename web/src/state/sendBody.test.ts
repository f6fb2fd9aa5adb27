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
	system_hints: [],
	supports_buffering: true,
	supported_encodings: ['v1']
};

test('a Send has the fields of the public protocol, and no conversation id in a new chat', () => {
	const body = buildSendBody(OUTGOING);

	expect(body).toMatchObject({ ...COMMON, action: 'next', parent_message_id: ROOT });
	expect(body).not.toHaveProperty('conversation_id');
});

test('a request for another answer has the fields of the public protocol', () => {
	const body = buildAnswerBody('variant', 'q1', OPTIONS, 'c1');

	expect(body).toMatchObject({ ...COMMON, action: 'variant', conversation_id: 'c1' });
});

test('the features that are on go with every request', () => {
	const options = { ...OPTIONS, features: ['code', 'time'] };

	expect(buildSendBody({ ...OUTGOING, ask: options }).system_hints).toEqual(['code', 'time']);
	expect(buildAnswerBody('variant', 'q1', options, 'c1').system_hints).toEqual(['code', 'time']);
});

test('a continuation may bring decisions about calls', () => {
	const verdict = { call_id: 'k1', decision: 'once' as const };

	expect(buildAnswerBody('continue', 'x1', OPTIONS, 'c1', [verdict]).verdicts).toEqual([verdict]);
	expect(buildAnswerBody('continue', 'x1', OPTIONS, 'c1')).not.toHaveProperty('verdicts');
});
