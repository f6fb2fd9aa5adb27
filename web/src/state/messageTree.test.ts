import { expect, test } from 'vitest';
import type { Seen } from '$/api/events.gen';
import type { Feedback, Message } from '$/api/wire';
import {
	EMPTY,
	addMessage,
	joinMessages,
	getLeafId,
	findPath,
	findQuestion,
	buildTree,
	type Tree
} from '$/state/messageTree';

const message = (id: string, parent: string | null): Message => ({
	id,
	author: { role: id.startsWith('a') ? 'assistant' : 'user' },
	create_time: null,
	content: { content_type: 'text', parts: [id] },
	status: 'finished_successfully',
	metadata: { parent_id: parent }
});

const growTree = (...pairs: [string, string | null][]): Tree =>
	pairs.map(([id, parent]) => message(id, parent)).reduce(addMessage, EMPTY);

const pathIds = (tree: Tree, id: string | null, isLast = false) =>
	findPath(tree, id, isLast).map((entry) => entry.id);

const FORKED = growTree(['q', null], ['a1', 'q'], ['a2', 'q'], ['q2', 'a1'], ['edited', null]);

test('a path goes from the root through a message to the newest leaf', () => {
	expect(pathIds(FORKED, 'q')).toEqual(['q', 'a2']);
	expect(pathIds(FORKED, 'a1')).toEqual(['q', 'a1', 'q2']);
});

test('a path can end at a message whose answer is still to come', () => {
	expect(pathIds(FORKED, 'q', true)).toEqual(['q']);
});

test('each entry lists its sibling branches', () => {
	expect(findPath(FORKED, 'a1', false).map((entry) => entry.alternatives)).toEqual([
		['q', 'edited'],
		['a1', 'a2'],
		['q2']
	]);
});

test('a message that is added twice is one branch', () => {
	const again = addMessage(FORKED, message('a1', 'q'));

	expect(pathIds(again, 'a1')).toEqual(['q', 'a1', 'q2']);
	expect(findPath(again, 'a1', false)[1]?.alternatives).toEqual(['a1', 'a2']);
});

test('an empty conversation has an empty path', () => {
	expect(pathIds(EMPTY, null)).toEqual([]);
	expect(pathIds(EMPTY, 'gone')).toEqual([]);
});

test('a continued answer is one entry, however many parts it has', () => {
	const continued = growTree(['q', null], ['a1', 'q'], ['a2', 'a1'], ['a3', 'a2'], ['q2', 'a3']);
	const path = findPath(continued, 'q', false);

	expect(path.map((entry) => entry.ids)).toEqual([['q'], ['a1', 'a2', 'a3'], ['q2']]);
	expect(path[1]?.alternatives).toEqual(['a1']);
	expect(getLeafId(findPath(continued, 'a3', true))).toBe('a3');
});

test('a continuation has the question of its answer', () => {
	const continued = growTree(['q', null], ['a1', 'q'], ['a2', 'a1']);

	expect(findQuestion(continued, 'a2')).toBe('q');
	expect(findQuestion(continued, 'gone')).toBeNull();
});

test('the next message and the continuation of an answer are not alternatives', () => {
	const both = growTree(['q', null], ['a1', 'q'], ['a2', 'a1'], ['q2', 'a1'], ['q3', 'a1']);

	expect(findPath(both, 'q2', false).at(-1)?.alternatives).toEqual(['q2', 'q3']);
});

test('a continued answer reads as one text that ended as its last part did', () => {
	const first = { ...message('a1', 'q'), create_time: 1 };
	const last: Message = { ...message('a2', 'a1'), create_time: 2, status: 'failed' };

	expect(joinMessages([first, last])).toMatchObject({
		create_time: 1,
		status: 'failed',
		content: { parts: ['a1a2'] }
	});
	expect(joinMessages([first])).toBe(first);
	expect(joinMessages([])).toBeNull();
});

test('the usage of a continued answer adds up', () => {
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

	expect(joinMessages([part('a1', true), part('a2', false)])?.metadata.usage).toEqual({
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

	expect(findPath(counted, 'q7999', false)).toHaveLength(8_000);
	expect(numReads).toBeLessThan(5 * 8_000);
});

test('a hidden message is left out, and its children move up', () => {
	const hidden = message('system', null);
	hidden.metadata.is_visually_hidden_from_conversation = true;
	const tree = buildTree({
		system: { id: 'system', parent: null, children: ['q'], message: hidden },
		q: { id: 'q', parent: 'system', children: [], message: message('q', 'system') }
	});

	expect([...tree.keys()]).toEqual(['q']);
	expect(findPath(tree, 'q', false).map(({ id, alternatives }) => [id, alternatives])).toEqual([
		['q', ['q']]
	]);
});

test('a continued answer lists the memories of all its parts', () => {
	const seenWith = (memory_id: string, memories: string[]): Seen => ({
		starts_at: null,
		memories,
		recalled: [],
		summaries: [],
		num_dropped_messages: 0,
		prompts: [],
		changed: [{ memory_id, change: 'added' }]
	});
	const part = (id: string, seen: Seen) => ({ ...message(id, 'q'), metadata: { seen } });

	const whole = joinMessages([
		part('a1', seenWith('x', ['m'])),
		part('a2', seenWith('y', ['m', 'n']))
	]);

	expect(whole?.metadata.seen).toMatchObject({
		memories: ['m', 'n'],
		changed: [{ memory_id: 'x' }, { memory_id: 'y' }]
	});
});

const SAID = { content_type: 'text' as const };

function round(id: string, parent: string, role: string, text: string, turn = 't1'): Message {
	return {
		...message(id, parent),
		author: { role },
		content: { ...SAID, parts: [text] },
		metadata: { parent_id: parent, turn_exchange_id: turn }
	};
}

const counted = (one: Message, input: number, output: number): Message => ({
	...one,
	metadata: {
		...one.metadata,
		usage: {
			num_input_tokens: input,
			num_cached_tokens: 1,
			num_output_tokens: output,
			queued_ms: 1,
			prefill_ms: 10,
			decode_ms: 100,
			is_estimated: false,
			is_truncated: false
		}
	}
});

const ROUNDS = [
	counted(round('a1', 'q', 'assistant', 'Let me see.'), 20, 5),
	round('x1', 'a1', 'tool', '6*7 = 42'),
	round('x2', 'x1', 'tool', '6*8 = 48'),
	counted(round('a2', 'x2', 'assistant', 'It is 42.'), 40, 3)
];

test('an answer with tools is one entry', () => {
	const tree = [message('q', null), ...ROUNDS, message('q2', 'a2')].reduce(addMessage, EMPTY);
	const path = findPath(tree, 'q', false);

	expect(path.map(({ ids }) => ids)).toEqual([['q'], ['a1', 'x1', 'x2', 'a2'], ['q2']]);
	expect(findQuestion(tree, 'a2')).toBe('q');
	expect(findQuestion(tree, 'x1')).toBe('q');
});

test('another answer is an alternative to one with tools', () => {
	const tree = [message('q', null), ...ROUNDS, message('a9', 'q')].reduce(addMessage, EMPTY);

	expect(findPath(tree, 'a2', true)[1]?.alternatives).toEqual(['a1', 'a9']);
});

test('the text of an answer with tools is what the model said, in paragraphs', () => {
	const joined = joinMessages(ROUNDS);

	expect(joined?.content.parts).toEqual(['Let me see.\n\nIt is 42.']);
	expect(joined?.author.role).toBe('assistant');
	expect(joined?.id).toBe('a2');
});

test('an answer that ends with a tool is an answer', () => {
	const joined = joinMessages(ROUNDS.slice(0, 2));

	expect(joined?.author.role).toBe('assistant');
	expect(joined?.content.parts).toEqual(['Let me see.']);
	expect(joinMessages(ROUNDS.slice(1, 2))?.content.parts).toEqual(['']);
});

test('the rounds of a turn add up to what the answer took', () => {
	expect(joinMessages(ROUNDS)?.metadata.usage).toMatchObject({
		num_input_tokens: 60,
		num_cached_tokens: 2,
		num_output_tokens: 8,
		prefill_ms: 20,
		decode_ms: 200
	});
});

test('a continuation in a later turn reads nothing new', () => {
	const later = counted(round('a3', 'a2', 'assistant', ' Sure.', 't2'), 60, 2);

	expect(joinMessages([...ROUNDS, later])?.metadata.usage).toMatchObject({
		num_input_tokens: 60,
		num_output_tokens: 10
	});
	expect(joinMessages([...ROUNDS, later])?.content.parts).toEqual([
		'Let me see.\n\nIt is 42. Sure.'
	]);
});

test('the rating of an answer is that of its last words', () => {
	const feedback: Feedback = { rating: 'up', reason: null, text: '' };
	const rated = ROUNDS.map((one) =>
		one.id === 'a2' ? { ...one, metadata: { ...one.metadata, feedback } } : one
	);

	expect(joinMessages(rated)?.metadata.feedback).toEqual(feedback);
});
