import { expect, test } from 'vitest';
import type { Seen } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import {
	EMPTY,
	grow,
	joined,
	leafOf,
	pathThrough,
	questionOf,
	treeOf,
	type Tree
} from '$/state/tree';

const message = (id: string, parent: string | null): Message => ({
	id,
	author: { role: id.startsWith('a') ? 'assistant' : 'user' },
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

test('an empty conversation has an empty path', () => {
	expect(ids(EMPTY, null)).toEqual([]);
	expect(ids(EMPTY, 'gone')).toEqual([]);
});

test('an answer that was continued stands in one place, however often', () => {
	const continued = tree(['q', null], ['a1', 'q'], ['a2', 'a1'], ['a3', 'a2'], ['q2', 'a3']);
	const path = pathThrough(continued, 'q', false);

	expect(path.map((place) => place.ids)).toEqual([['q'], ['a1', 'a2', 'a3'], ['q2']]);
	expect(path[1]?.alternatives).toEqual(['a1']);
	expect(leafOf(pathThrough(continued, 'a3', true))).toBe('a3');
});

test('the rest of an answer answers what its beginning did', () => {
	const continued = tree(['q', null], ['a1', 'q'], ['a2', 'a1']);

	expect(questionOf(continued, 'a2')).toBe('q');
	expect(questionOf(continued, 'gone')).toBeNull();
});

test('what a person says after an answer is no other version of its continuation', () => {
	const both = tree(['q', null], ['a1', 'q'], ['a2', 'a1'], ['q2', 'a1'], ['q3', 'a1']);

	expect(pathThrough(both, 'q2', false).at(-1)?.alternatives).toEqual(['q2', 'q3']);
});

test('a continued answer reads as one text that ended as its last part did', () => {
	const first = { ...message('a1', 'q'), create_time: 1 };
	const last: Message = { ...message('a2', 'a1'), create_time: 2, status: 'failed' };

	expect(joined([first, last])).toMatchObject({
		create_time: 1,
		status: 'failed',
		content: { parts: ['a1a2'] }
	});
	expect(joined([first])).toBe(first);
	expect(joined([])).toBeNull();
});

test('what a continued answer cost adds up', () => {
	const usage = {
		num_input_tokens: 10,
		num_cached_tokens: 0,
		num_output_tokens: 5,
		queued_ms: 1,
		prefill_ms: 2,
		decode_ms: 100,
		is_estimated: false,
		is_truncated: true
	};
	const part = (id: string, is_truncated: boolean) => ({
		...message(id, 'q'),
		metadata: { usage: { ...usage, is_truncated } }
	});

	expect(joined([part('a1', true), part('a2', false)])?.metadata.usage).toEqual({
		...usage,
		num_output_tokens: 10,
		decode_ms: 200,
		is_truncated: false
	});
});

test('a path of many thousand messages is found by walking it once', () => {
	let numReads = 0;
	const nodes = Array.from({ length: 8_000 }, (_, i) => {
		const parent = i === 0 ? null : `q${i - 1}`;
		return [
			`q${i}`,
			{ id: `q${i}`, parent, children: [`q${i + 1}`], message: message(`q${i}`, parent) }
		];
	});
	const long = new Map(nodes as [string, never][]);
	const counted: Tree = Object.assign(new Map(long), {
		get: (id: string) => {
			numReads += 1;
			return long.get(id);
		}
	});

	expect(pathThrough(counted, 'q7999', false)).toHaveLength(8_000);
	expect(numReads).toBeLessThan(5 * 8_000);
});

test('what is hidden is no place: what stands below it moves up', () => {
	const hidden = message('system', null);
	hidden.metadata.is_visually_hidden_from_conversation = true;
	const tree = treeOf({
		system: { id: 'system', parent: null, children: ['q'], message: hidden },
		q: { id: 'q', parent: 'system', children: [], message: message('q', 'system') }
	});

	expect([...tree.keys()]).toEqual(['q']);
	expect(pathThrough(tree, 'q', false).map(({ id, alternatives }) => [id, alternatives])).toEqual([
		['q', ['q']]
	]);
});

test('a continued answer tells of everything that was remembered on its way', () => {
	const seen = (memory_id: string, memories: string[]): Seen => ({
		starts_at: null,
		memories,
		recalled: [],
		summaries: [],
		num_dropped_messages: 0,
		prompts: [],
		changed: [{ memory_id, change: 'added' }]
	});
	const part = (id: string, told: Seen) => ({ ...message(id, 'q'), metadata: { seen: told } });

	const whole = joined([part('a1', seen('x', ['m'])), part('a2', seen('y', ['m', 'n']))]);

	expect(whole?.metadata.seen).toMatchObject({
		memories: ['m', 'n'],
		changed: [{ memory_id: 'x' }, { memory_id: 'y' }]
	});
});
