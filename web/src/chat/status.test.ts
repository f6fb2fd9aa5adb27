import { expect, test } from 'vitest';
import type { Status } from '$/api/wire';
import { waitOf, type Situation } from '$/chat/status';
import { en } from '$/words/en';

const READY: Status = {
	state: 'ready',
	detail: '',
	num_busy_slots: 0,
	num_slots: 1,
	num_waiting: 1,
	downloads: [],
	model: 'small'
};
const TURN: Situation['turn'] = {
	id: 't1',
	isRunning: true,
	isStopping: false,
	isReconnecting: false,
	retry: null,
	delay: null,
	beganAt: 0,
	heardAt: 0
};

const wait = (change: Partial<Situation> = {}, turn: Partial<Situation['turn']> = {}) =>
	waitOf(
		{
			hasWords: false,
			isOnline: true,
			isWorking: false,
			engine: READY,
			at: 0,
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
	['others are first', {}, { delay: { reason: 'queue', numAhead: 2 } }, 'In line, 2 answers ahead'],
	['it is the next', {}, { delay: { reason: 'queue', numAhead: 0 } }, 'Next in line'],
	['the model is loaded', {}, { delay: { reason: 'loading', numAhead: 0 } }, en.chat.state.loading],
	['the prompt is read', {}, {}, en.chat.state.reading],
	['it was stopped', {}, { isStopping: true }, en.chat.state.stopping]
])('it is said when %s', (_, change, turn, sentence) => {
	expect(wait(change, turn)?.sentence).toBe(sentence);
});

test('whoever is no longer in line is being read', () => {
	const delay = { reason: 'queue' as const, numAhead: 0 };

	expect(wait({ engine: { ...READY, num_waiting: 0 } }, { delay })?.sentence).toBe(
		en.chat.state.reading
	);
});

test('a server that wants to be asked later is, and until then it is said when', () => {
	const retry = { reason: 'limit' as const, asked: { ms: 12_000, at: 20_000 } };

	expect(wait({ at: 12_500 }, { id: null, retry })).toEqual({
		sentence: 'Too many requests, trying again in 8 s',
		aloud: 'Too many requests, trying again in 12 s',
		numSeconds: null,
		canStop: true
	});
});

test('nothing is said while words come, or when all is over', () => {
	expect(wait({ hasWords: true, at: 3_000 }, { heardAt: 2_500 })).toBeNull();
	expect(wait({}, { isRunning: false })).toBeNull();
});

test('a model that falls silent in the middle is not left unmentioned', () => {
	expect(wait({ hasWords: true, at: 30_000 }, { heardAt: 18_000 })).toMatchObject({
		sentence: en.chat.state.stalled,
		numSeconds: 12
	});
});

test('after some seconds it is said how long it has taken, and that one can stop', () => {
	expect(wait({ at: 4_000 })).toMatchObject({ numSeconds: null, canStop: false });
	expect(wait({ at: 7_400 })).toMatchObject({ numSeconds: 7, canStop: true });
	expect(wait({ at: 7_400 }, { isStopping: true })?.canStop).toBe(false);
});
