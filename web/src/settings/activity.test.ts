// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { AuditEntry, AuditEvent } from '$/api/wire';
import { buildQuery, describeEntry, TOPICS, type Filter } from '$/settings/activity';
import { activityWords } from '$/words/activity';
import { promptWords } from '$/words/prompts';

const entry = (event: AuditEvent, changes: Partial<AuditEntry> = {}): AuditEntry => ({
	position: 1,
	at: 1_790_000_000,
	actor_id: 'a',
	actor_name: 'ada',
	subject_id: 'b',
	subject_name: 'bob',
	via: 'page',
	address: '192.0.2.1',
	session_id: 's',
	key_id: null,
	agent: 'Firefox',
	event,
	hash: '',
	...changes
});
const describeIn = (language: string, one: AuditEntry) =>
	describeEntry(one, activityWords(language), promptWords(language));

const made: AuditEvent = { kind: 'RoleChanged', user_id: 'b', role: 'admin' };
const failed: AuditEvent = { kind: 'SignInFailed', user_id: null, num_tries: 40 };
const activated: AuditEvent = { kind: 'PromptActivated', prompt: 'system', version: 1001 };
const unlimited: AuditEvent = {
	kind: 'LimitChanged',
	scope: 'user',
	target: '',
	before: null,
	after: null,
	user_id: 'b'
};

test.each<[AuditEntry, string, string]>([
	[
		entry(made),
		'ada made bob an administrator',
		'ada hat die Rolle von bob geändert: Administration'
	],
	[
		entry(failed, { actor_id: null, actor_name: null, subject_id: null, subject_name: null }),
		'Failed to sign in as a name that nobody has, 40 times',
		'Anmeldung 40-mal gescheitert: ein Name, den niemand hat'
	],
	[
		entry(activated, { subject_id: null, subject_name: null }),
		'ada activated version 1001 of System instructions',
		'ada hat Fassung 1001 aktiviert: Systemanweisung'
	],
	[
		entry(unlimited, { subject_name: null }),
		'ada removed the limits of Deleted user',
		'ada hat die Limits für Gelöschtes Konto entfernt'
	]
])('an entry reads as a sentence in the language of the page', (one, english, german) => {
	expect(describeIn('en', one).title).toBe(english);
	expect(describeIn('de', one).title).toBe(german);
});

test('what is done without an account is done by the server, or by whoever runs it', () => {
	const backup = { actor_id: null, actor_name: null, subject_id: null, subject_name: null };
	const made = entry({ kind: 'BackupMade' }, { ...backup, via: 'command line' });

	expect(describeIn('en', made).title).toBe(
		'Whoever runs the server made a backup of the database'
	);
});

test('an entry says when, how and from where', () => {
	const { details } = describeIn('en', entry(made, { via: 'api', agent: '' }));

	expect(details).toEqual([expect.stringContaining('2026'), 'with an API key', '192.0.2.1']);
});

test('an entry of a kind that the page does not know is shown all the same', () => {
	const event = { kind: 'TeapotBoiled' } as unknown as AuditEvent;

	expect(describeIn('en', entry(event)).title).toBe('ada: TeapotBoiled');
});

test('every kind that has a sentence belongs to one topic, but for the log itself', () => {
	const listed = Object.values(TOPICS).flat();
	const known = Object.keys(activityWords('en').sentences);

	expect([...listed, 'EntriesExpired'].sort()).toEqual(known.sort());
});

test('a filter becomes a query, with whole days of this browser', () => {
	const filter: Filter = { topic: 'all', userId: '', since: '', until: '' };
	const day = new Date('2026-11-19T00:00:00').getTime() / 1_000;

	expect(buildQuery(filter).toString()).toBe('');
	const query = buildQuery({
		topic: 'prompts',
		userId: 'b',
		since: '2026-11-19',
		until: '2026-11-19'
	});
	expect(query.get('kinds')).toContain('PromptWritten,PromptActivated');
	expect(query.get('user_id')).toBe('b');
	expect(Number(query.get('since'))).toBe(day);
	expect(Number(query.get('until'))).toBe(day + 86_400);
});
