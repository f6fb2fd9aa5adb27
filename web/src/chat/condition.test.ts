import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { Status } from '$/api/wire';
import { conditionOf, sentenceAbout } from '$/chat/condition';
import { Engine } from '$/state/engine.svelte';
import { en } from '$/words/en';

function engine(state: Status['state'], detail = ''): Engine {
	const one = new Engine(new Api());
	one.status = {
		state,
		detail,
		num_busy_slots: 0,
		num_slots: 1,
		num_waiting: 0,
		downloads: [],
		model: null
	};
	return one;
}

test('an engine that is ready, or was not asked yet, is nothing to speak of', () => {
	expect(conditionOf(engine('ready'), true)).toBeNull();
	expect(conditionOf(new Engine(new Api()), true)).toBeNull();
});

test('the nearest cause is told', () => {
	const lost = engine('down');
	lost.isReachable = false;
	expect(conditionOf(lost, false)).toBe('offline');
	expect(conditionOf(lost, true)).toBe('unreachable');
	expect(conditionOf(engine('restarting'), true)).toBe('restarting');
});

test('a server that answers without a network is on this machine, and nothing is wrong', () => {
	expect(conditionOf(engine('ready'), false)).toBeNull();
});

test('an engine that is down says why in the words of the server', () => {
	const down = engine('down', 'The disk is full.');
	expect(sentenceAbout('down', down, en)).toBe(`${en.models.down} The disk is full.`);
});
