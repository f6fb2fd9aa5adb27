import { createParser } from 'eventsource-parser';
import { describe, expect, test } from 'vitest';
import type { Message, Op } from '$/api/wire';
import { BadDelta, change, DeltaDecoder, type Delta, type Json } from '$/turn/delta';
import { readExpected, names, readStream } from '$/turn/recordedTurns';

function readDeltas(name: string): Delta[] {
	const found: Delta[] = [];
	const parser = createParser({
		onEvent: ({ event, data }) => event === 'delta' && found.push(JSON.parse(data) as Delta)
	});
	parser.feed(readStream(name));
	return found;
}

test.each(names)('the recorded stream %s decodes to the messages that were stored', (name) => {
	const decoder = new DeltaDecoder();
	for (const delta of readDeltas(name)) decoder.apply(delta);
	const wrappers = [...decoder.trees.values()] as unknown as { message: Message }[];
	const messages = wrappers
		.map(({ message }) => message)
		.filter(({ metadata }) => metadata.is_visually_hidden_from_conversation !== true);

	expect(messages).toEqual(readExpected(name).messages);
});

describe('each operation', () => {
	const tree: Json = { text: 'añ🙂b', list: ['x', 'y'], map: { a: 1 }, 'a/b~c': 'key' };
	test.each<[string, string, string, Json, Json]>([
		['adds a member', 'add', '/new', 1, { ...tree, new: 1 }],
		['inserts into a list', 'add', '/list/1', 'new', { ...tree, list: ['x', 'new', 'y'] }],
		['adds at the end of a list', 'add', '/list/-', 'z', { ...tree, list: ['x', 'y', 'z'] }],
		['replaces a member', 'replace', '/map/a', 2, { ...tree, map: { a: 2 } }],
		['replaces an element', 'replace', '/list/0', 'X', { ...tree, list: ['X', 'y'] }],
		['removes an element', 'remove', '/list/0', null, { ...tree, list: ['y'] }],
		['appends text', 'append', '/text', '!', { ...tree, text: 'añ🙂b!' }],
		['appends to a list', 'append', '/list', ['z'], { ...tree, list: ['x', 'y', 'z'] }],
		['merges keys', 'append', '/map', { b: 2 }, { ...tree, map: { a: 1, b: 2 } }],
		['cuts text by characters', 'truncate', '/text', 3, { ...tree, text: 'añ🙂' }],
		['cuts a list', 'truncate', '/list', 1, { ...tree, list: ['x'] }],
		['reads escaped paths', 'replace', '/a~1b~0c', '', { ...tree, 'a/b~c': '' }]
	])('%s', (_, op, path, value, after) => {
		expect(change(tree, op, path, value)).toEqual(after);
	});

	test('removes a member', () => {
		expect(change({ a: 1, b: 2 }, 'remove', '/a', undefined)).toEqual({ b: 2 });
	});

	test('applies a patch below its path, in order', () => {
		const items = [
			{ p: '/text', o: 'truncate', v: 0 },
			{ p: '/text', o: 'append', v: 'new' }
		];
		expect(change({ in: { text: 'old' } }, 'patch', '/in', items)).toEqual({ in: { text: 'new' } });
	});

	test('does not change the tree it was given', () => {
		const before = structuredClone(tree);
		change(tree, 'append', '/list', 'z');
		expect(tree).toEqual(before);
	});

	test('treats __proto__ as a key like any other', () => {
		const grown = change({ map: {} }, 'add', '/map/__proto__', { isAdmin: true });
		expect(JSON.stringify(grown)).toBe('{"map":{"__proto__":{"isAdmin":true}}}');
	});
});

test('missing fields are those of the delta before', () => {
	const decoder = new DeltaDecoder();
	decoder.apply({ c: 0, p: '', o: 'add', v: { text: '' } });
	decoder.apply({ c: 1, v: { text: '' } });
	decoder.apply({ p: '/text', o: 'append', v: 'a' });
	decoder.apply({ v: 'b' });
	decoder.apply({ c: 0, v: 'c' });

	expect([...decoder.trees.values()]).toEqual([{ text: 'c' }, { text: 'ab' }]);
});

test.each<[string, Delta]>([
	['an operation nobody knows', { c: 0, p: '/text', o: 'frobnicate' as Op, v: 1 }],
	['a path that is not there', { c: 0, p: '/nothing/here', o: 'append', v: 'x' }],
	['a path that is no pointer', { c: 0, p: 'text', o: 'append', v: 'x' }],
	['a place beyond the list', { c: 0, p: '/list/7', o: 'replace', v: 'x' }],
	['text after a patch', { c: 0, p: '', o: 'patch', v: 'x' }],
	['a patch inside a patch', { c: 0, p: '', o: 'patch', v: [{ p: '', o: 'patch', v: [] }] }],
	['append at the root', { c: 0, p: '', o: 'append', v: {} }],
	['text appended to a list of keys', { c: 0, p: '/map', o: 'append', v: 'x' }],
	['a length that is not there', { c: 0, p: '/text', o: 'truncate', v: 99 }],
	['a missing value', { c: 0, p: '/text', o: 'append' }],
	['a channel that has not begun', { c: 5, p: '/text', o: 'append', v: 'x' }]
])('%s is refused', (_, delta) => {
	const decoder = new DeltaDecoder();
	decoder.apply({ c: 0, p: '', o: 'add', v: { text: 'x', list: [], map: {} } });

	expect(() => decoder.apply(delta)).toThrow(BadDelta);
});

test('a first delta without channel, path or operation is refused', () => {
	expect(() => new DeltaDecoder().apply({ v: 'x' })).toThrow(BadDelta);
});
