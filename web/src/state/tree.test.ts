import { expect, test } from 'vitest';
import type { Message } from '$/api/wire';
import { EMPTY, grow, pathThrough, prune, type Tree } from '$/state/tree';

const message = (id: string, parent: string | null): Message => ({
	id,
	author: { role: 'user' },
	create_time: null,
	content: { content_type: 'text', parts: [id] },
	status: 'finished_successfully',
	metadata: { parent_id: parent }
});

const tree = (...pairs: [string, string | null][]): Tree =>
	pairs.map(([id, parent]) => message(id, parent)).reduce(grow, EMPTY);

const ids = (grown: Tree, id: string | null, isLast = false) =>
	pathThrough(grown, id, isLast).map((place) => place.id);

const FORKED = tree(['q', null], ['a1', 'q'], ['a2', 'q'], ['q2', 'a1'], ['edited', null]);

test('a path goes from the root through a message to the newest leaf', () => {
	expect(ids(FORKED, 'q')).toEqual(['q', 'a2']);
	expect(ids(FORKED, 'a1')).toEqual(['q', 'a1', 'q2']);
});

test('a path can end where the next message is still to come', () => {
	expect(ids(FORKED, 'q', true)).toEqual(['q']);
});

test('each place knows what else stands there', () => {
	expect(pathThrough(FORKED, 'a1', false).map((place) => place.alternatives)).toEqual([
		['q', 'edited'],
		['a1', 'a2'],
		['q2']
	]);
});

test('a message that is told again is not a new branch', () => {
	const told = grow(FORKED, message('a1', 'q'));

	expect(ids(told, 'a1')).toEqual(['q', 'a1', 'q2']);
	expect(pathThrough(told, 'a1', false)[1]?.alternatives).toEqual(['a1', 'a2']);
});

test('what is pruned is gone from its place', () => {
	expect(ids(prune(FORKED, 'a2'), 'q')).toEqual(['q', 'a1', 'q2']);
});

test('an empty conversation has an empty path', () => {
	expect(ids(EMPTY, null)).toEqual([]);
	expect(ids(EMPTY, 'gone')).toEqual([]);
});
