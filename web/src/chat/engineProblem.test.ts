import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { Status } from '$/api/wire';
import { findEngineProblem, describeEngineProblem } from '$/chat/engineProblem';
import { Engine } from '$/state/engine.svelte';
import { en } from '$/words/en';

function engine(state: Status['state'], detail = '', store: Status['store'] = 'ready'): Engine {
	const engine = new Engine(new Api());
	engine.status = {
		state,
		detail,
		num_busy_slots: 0,
		num_slots: 1,
		num_waiting: 0,
		first_token_s: null,
		downloads: [],
		model: null,
		store
	};
	return engine;
}

test('an engine that is ready or was not asked yet has no problem', () => {
	expect(findEngineProblem(engine('ready'), true)).toBeNull();
	expect(findEngineProblem(new Engine(new Api()), true)).toBeNull();
});

test('a lost connection comes before the state of the engine', () => {
	const lost = engine('down');
	lost.isReachable = false;
	expect(findEngineProblem(lost, false)).toBe('offline');
	expect(findEngineProblem(lost, true)).toBe('unreachable');
	expect(findEngineProblem(engine('restarting'), true)).toBe('restarting');
});

test('a store that cannot save comes before the state of the engine', () => {
	const full = engine('starting', '', 'disk_full');
	expect(findEngineProblem(full, true)).toBe('disk_full');
	expect(describeEngineProblem('disk_full', full, en)).toBe(en.models.disk_full);
});

test('a server that is reachable without a network has no problem', () => {
	expect(findEngineProblem(engine('ready'), false)).toBeNull();
});

test('an engine that is down shows the detail from the server', () => {
	const down = engine('down', 'The disk is full.');
	expect(describeEngineProblem('down', down, en)).toBe(`${en.models.down} The disk is full.`);
});
