// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { AuditEntry } from '$/api/wire';
import { describeAuditEntry } from '$/prompts/auditEntry';
import { promptWords } from '$/words/prompts';

const entry = (some: Partial<AuditEntry>): AuditEntry => ({
	position: 1,
	at: 1_790_000_000,
	user_id: 'u',
	name: 'ada',
	action: 'prompt.activated',
	subject: 'system',
	detail: { version: '1001' },
	...some
});

test('a change is described in the language of the page', () => {
	expect(describeAuditEntry(entry({}), promptWords('en'))).toMatchObject({
		title: 'ada activated a version of System instructions',
		details: ['version 1001', expect.stringContaining('2026')]
	});
	expect(describeAuditEntry(entry({ name: null }), promptWords('de')).title).toBe(
		'jemand, den es hier nicht mehr gibt: Fassung aktiviert, Systemanweisung'
	);
});

test('a return to the shipped version is named as such', () => {
	const { details } = describeAuditEntry(
		entry({ detail: { version: 'shipped' } }),
		promptWords('en')
	);
	expect(details[0]).toBe('what comes with hitsend');
});

test('a change of the decoding lists its numbers', () => {
	const detail = { sampling: '{"temperature":0.3,"max_tokens":40}' };
	const decoding = entry({ action: 'prompt.decoding', detail });
	expect(describeAuditEntry(decoding, promptWords('en')).details[0]).toBe(
		'temperature 0.3, max_tokens 40'
	);
});

test('the end of a comparison names the winner, not its id', () => {
	const detail = { experiment: 'some-id', winner: 'none' };
	const ended = entry({ action: 'experiment.ended', detail });
	expect(describeAuditEntry(ended, promptWords('en')).details[0]).toBe('without a winner');
});

test('an unknown action is described with the names the server uses', () => {
	const unknown = entry({ action: 'house.painted', subject: 'wall', detail: { colour: 'red' } });
	expect(describeAuditEntry(unknown, promptWords('en'))).toMatchObject({
		title: 'ada house.painted wall',
		details: ['colour: red', expect.anything()]
	});
});
