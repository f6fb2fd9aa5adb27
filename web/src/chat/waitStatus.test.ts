import { expect, test } from 'vitest';
import type { Message, Status } from '$/api/wire';
import { describeWait, findProgress, type Situation } from '$/chat/waitStatus';
import { en } from '$/words/en';

const READY: Status = {
	state: 'ready',
	detail: '',
	num_busy_slots: 0,
	num_slots: 1,
	num_waiting: 1,
	first_token_s: null,
	downloads: [],
	model: 'small',
	store: 'ready'
};
const TURN: Situation['turn'] = {
	id: 't1',
	isRunning: true,
	isStopping: false,
	isReconnecting: false,
	retry: null,
	delay: null,
	startedAt: 0,
	lastTextAt: 0
};

const wait = (change: Partial<Situation> = {}, turn: Partial<Situation['turn']> = {}) =>
	describeWait(
		{
			progress: 'nothing',
			isOnline: true,
			isWorking: false,
			engine: READY,
			now: 0,
			...change,
			turn: { ...TURN, ...turn }
		},
		en
	);

test.each<[string, Partial<Situation>, Partial<Situation['turn']>, string]>([
	['the server has not answered', {}, { id: null }, en.chat.state.connecting],
	['it wants to see work first', { isWorking: true }, { id: null }, en.chat.state.working],
	['work is done for the next one', { isWorking: true }, {}, en.chat.state.reading],
	['the browser is offline', { isOnline: false }, {}, en.chat.state.offline],
	['it was before it could send', { isOnline: false }, { id: null }, en.chat.state.unsent],
	['the line is lost', {}, { isReconnecting: true }, en.chat.state.reconnecting],
	['the model starts', { engine: { ...READY, state: 'starting' } }, {}, en.chat.state.starting],
	['it restarts', { engine: { ...READY, state: 'restarting' } }, {}, en.chat.state.restarting],
	['there is none', { engine: { ...READY, state: 'down' } }, {}, en.chat.state.down],
	['the disk is full', { engine: { ...READY, store: 'disk_full' } }, {}, en.chat.state.disk_full],
	[
		'the database is damaged',
		{ engine: { ...READY, store: 'database_damaged' } },
		{},
		en.chat.state.database_damaged
	],
	[
		'nothing can be saved',
		{ engine: { ...READY, store: 'store_down' } },
		{},
		en.chat.state.store_down
	],
	['others are first', {}, { delay: { reason: 'queue', numAhead: 2 } }, 'In line, 2 answers ahead'],
	['it is the next', {}, { delay: { reason: 'queue', numAhead: 0 } }, 'Next in line'],
	['the model is loaded', {}, { delay: { reason: 'loading', numAhead: 0 } }, en.chat.state.loading],
	['the prompt is read', {}, {}, en.chat.state.reading],
	['it was stopped', {}, { isStopping: true }, en.chat.state.stopping]
])('the status says that %s', (_, change, turn, sentence) => {
	expect(wait(change, turn)?.sentence).toBe(sentence);
});

test('the prompt is being read once nobody waits in line', () => {
	const delay = { reason: 'queue' as const, numAhead: 0 };

	expect(wait({ engine: { ...READY, num_waiting: 0 } }, { delay })?.sentence).toBe(
		en.chat.state.reading
	);
});

test('a rate limit shows the seconds until the next try', () => {
	const retry = { reason: 'limit' as const, retryAfter: { ms: 12_000, at: 20_000 } };

	expect(wait({ now: 12_500 }, { id: null, retry })).toEqual({
		sentence: 'Too many requests, trying again in 8 s',
		announcement: 'Too many requests, trying again in 12 s',
		numSeconds: null,
		canStop: true
	});
});

test('there is no status while text arrives or after the end', () => {
	expect(wait({ progress: 'text', now: 3_000 }, { lastTextAt: 2_500 })).toBeNull();
	expect(wait({}, { isRunning: false })).toBeNull();
});

test('a model that pauses in the middle is reported as stalled', () => {
	expect(wait({ progress: 'text', now: 30_000 }, { lastTextAt: 18_000 })).toMatchObject({
		sentence: en.chat.state.stalled,
		numSeconds: 12
	});
});

test('an answer that pauses because the disk is full says so', () => {
	const engine = { ...READY, store: 'disk_full' as const };
	expect(wait({ engine, progress: 'text', now: 30_000 }, { lastTextAt: 18_000 })).toMatchObject({
		sentence: en.chat.state.disk_full,
		numSeconds: 12
	});
	expect(wait({ engine, progress: 'text', now: 3_000 }, { lastTextAt: 2_500 })).toBeNull();
});

test('a silent engine is given up after a time, which the status tells', () => {
	const remote = { ...READY, first_token_s: 60 };

	expect(wait({ engine: remote, now: 14_000 })?.sentence).toBe(en.chat.state.reading);
	expect(wait({ engine: remote, now: 20_000 })?.sentence).toContain('given up after 60 s');
	expect(wait({ now: 20_000 })?.sentence).toBe(en.chat.state.reading);
	expect(wait({ engine: remote, progress: 'text', now: 20_000 })?.sentence).toBe(
		en.chat.state.stalled
	);
});

test('a long wait shows its seconds and a cancel button', () => {
	expect(wait({ now: 4_000 })).toMatchObject({ numSeconds: null, canStop: false });
	expect(wait({ now: 7_400 })).toMatchObject({ numSeconds: 7, canStop: true });
	expect(wait({ now: 7_400 }, { isStopping: true })?.canStop).toBe(false);
});

const said = (text: string, more: Partial<Message> = {}): Message => ({
	id: 'a1',
	author: { role: 'assistant' },
	create_time: null,
	content: { content_type: 'text', parts: [text] },
	status: 'in_progress',
	metadata: {},
	...more
});
const TOOL = said('42', { author: { role: 'tool' }, status: 'finished_successfully' });
const RUNNING: Message = { ...TOOL, status: 'in_progress' };
const CALL = { kind: 'tool_call' as const, call_id: 'c1', tool: 'calculate', arguments: '{}' };

test.each<[string, Message[]]>([
	['nothing', []],
	['nothing', [said('')]],
	['text', [said('It is')]],
	['thought', [said('', { metadata: { thought: { kind: 'thought', text: 'Hm.' } } })]],
	['tool', [said('Let me see.', { metadata: { tool_calls: [CALL] } })]],
	['tool', [said('Let me see.'), RUNNING]],
	['tool', [said(''), RUNNING, TOOL]],
	['after tools', [said('Let me see.'), TOOL]],
	['after tools', [said('Let me see.'), TOOL, said('')]],
	['text', [said(''), TOOL, said('It is 42.')]]
])('the progress is %s', (progress, messages) => {
	expect(findProgress(messages.at(-1) ?? null, messages)).toBe(progress);
});

test('a tool that runs shows that itself, however long it takes', () => {
	expect(wait({ progress: 'tool', now: 60_000 })).toBeNull();
	expect(wait({ progress: 'tool' }, { isReconnecting: true })?.sentence).toBe(
		en.chat.state.reconnecting
	);
});

test('the model reads the result of a tool', () => {
	expect(wait({ progress: 'after tools', now: 21_000 }, { lastTextAt: 20_000 })).toMatchObject({
		sentence: en.chat.state.readingResult,
		numSeconds: null
	});
});
