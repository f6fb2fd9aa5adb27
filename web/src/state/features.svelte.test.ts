// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { Unreachable } from '$/api/http';
import type { Feature, Message } from '$/api/wire';
import { Features } from '$/state/features.svelte';

const feature = (name: string, ...tools: string[]): Feature => ({
	name,
	title: '',
	tools: tools.map((tool) => ({ name: tool, description: '', effect: 'reads' }))
});
const ALL = [feature('calculator', 'calculate'), feature('time', 'get_time')];

function place(id: string | null, messages: Message[] = [], isTemporary = false) {
	const ids = messages.map((message) => message.id);
	const path = messages.length === 0 ? [] : [{ id: ids[0] ?? '', ids, alternatives: [] }];
	return { id, isTemporary, path, messagesAt: () => messages };
}

async function open(all: Feature[] = ALL): Promise<Features> {
	const features = new Features({ listFeatures: () => Promise.resolve(all) }, localStorage, 'ada');
	await features.load();
	return features;
}

beforeEach(() => localStorage.clear());

test('a choice in a new conversation is the default of the next one', async () => {
	(await open()).toggle(place(null), 'calculator');

	expect((await open()).chosenIn(place(null))).toEqual(['calculator']);
});

test('a choice in a conversation holds only there', async () => {
	const features = await open();
	features.toggle(place('c1'), 'time');

	expect(features.chosenIn(place('c1'))).toEqual(['time']);
	expect(features.chosenIn(place(null))).toEqual([]);
	expect((await open()).chosenIn(place('c1'))).toEqual(['time']);
});

test('a new conversation keeps its choice when the default changes', async () => {
	const features = await open();
	features.toggle(place(null), 'calculator');
	features.adopt(place('c1'));
	features.toggle(place(null), 'calculator');

	expect(features.chosenIn(place('c1'))).toEqual(['calculator']);
	expect(features.chosenIn(place(null))).toEqual([]);
});

test('a temporary conversation leaves nothing in storage', async () => {
	const features = await open();
	features.toggle(place('c1', [], true), 'time');

	expect(features.chosenIn(place('c1', [], true))).toEqual(['time']);
	expect(JSON.stringify({ ...localStorage })).not.toContain('c1');
});

test('a conversation of another browser goes on with what its last answer used', async () => {
	const used = ['a1', 'x1'].map((id): Message => ({
		id,
		author: { role: id === 'x1' ? 'tool' : 'assistant' },
		create_time: null,
		content: { content_type: 'text', parts: [''] },
		status: 'finished_successfully',
		metadata:
			id === 'x1'
				? {
						tool_result: {
							kind: 'tool_result',
							call_id: 'c',
							output: '',
							failed: false,
							tool: 'get_time'
						}
					}
				: {}
	}));
	const features = await open();
	expect(features.chosenIn(place('c1', used))).toEqual(['time']);
	features.toggle(place('c1', used), 'time');

	expect(features.chosenIn(place('c1', used))).toEqual([]);
});

test('a feature that the server has no more is not sent', async () => {
	(await open()).toggle(place(null), 'time');

	expect((await open([feature('calculator')])).chosenIn(place(null))).toEqual([]);
});

test('while the server cannot be reached, the choice is taken as it is', async () => {
	(await open()).toggle(place(null), 'time');
	const features = new Features(
		{ listFeatures: () => Promise.reject(new Unreachable()) },
		localStorage,
		'ada'
	);
	await features.load();

	expect(features.all).toBeNull();
	expect(features.chosenIn(place(null))).toEqual(['time']);
});

test.each(['7', 'not json', '{"standard":[1],"own":[["c1"],7]}'])(
	'stored nonsense counts as nothing: %s',
	async (stored) => {
		localStorage.setItem('hitsend.features.ada', stored);

		expect((await open()).chosenIn(place('c1'))).toEqual([]);
	}
);

test('only the newest choices are stored', async () => {
	const features = await open();
	for (let i = 0; i < 205; i++) features.toggle(place(`c${i}`), 'time');

	expect((await open()).chosenIn(place('c0'))).toEqual([]);
	expect((await open()).chosenIn(place('c204'))).toEqual(['time']);
});
