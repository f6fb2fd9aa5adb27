// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { AuditEntry, AuditEvent } from '$/api/wire';
import { describeAuditEntry } from '$/prompts/auditEntry';
import { promptWords } from '$/words/prompts';

const activated: AuditEvent = { kind: 'PromptActivated', prompt: 'system', version: 1001 };

const entry = (event: AuditEvent, actor_name: string | null = 'ada'): AuditEntry => ({
	position: 1,
	at: 1_790_000_000,
	actor_id: 'u',
	actor_name,
	subject_id: null,
	subject_name: null,
	via: 'page',
	address: '192.0.2.1',
	session_id: 's',
	key_id: null,
	agent: 'Firefox',
	event,
	hash: ''
});

test('a change is described in the language of the page', () => {
	expect(describeAuditEntry(entry(activated), promptWords('en'))).toMatchObject({
		title: 'ada activated a version of System instructions',
		details: ['version 1001', expect.stringContaining('2026')]
	});
	expect(describeAuditEntry(entry(activated, null), promptWords('de')).title).toBe(
		'jemand, den es hier nicht mehr gibt: Fassung aktiviert, Systemanweisung'
	);
});

test('a return to the shipped version is named as such', () => {
	const shipped: AuditEvent = { ...activated, version: null };
	const { details } = describeAuditEntry(entry(shipped), promptWords('en'));
	expect(details[0]).toBe('what comes with hitsend');
});

test('a change of the decoding lists its numbers', () => {
	const sampling = { temperature: 0.3, max_tokens: 40 };
	const changed: AuditEvent = { kind: 'PromptSamplingChanged', prompt: 'system', sampling };
	expect(describeAuditEntry(entry(changed), promptWords('en')).details[0]).toBe(
		'temperature 0.3, max_tokens 40'
	);
});

test('the end of a comparison names the winner, not its id', () => {
	const ended: AuditEvent = {
		kind: 'ExperimentEnded',
		experiment_id: 'some-id',
		prompt: 'system',
		winner: null
	};
	expect(describeAuditEntry(entry(ended), promptWords('en')).details[0]).toBe('without a winner');
});
