import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { ConversationSummary } from '$/api/wire';
import { Finder } from '$/palette/finder.svelte';
import type { Action } from '$/state/action';
import { Conversations } from '$/state/conversations.svelte';
import { en } from '$/words/en';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ACTIONS: Action[] = [
	{ id: 'palette', label: 'Find', icon: 'plus', run: () => undefined },
	{ id: 'garden', label: 'Go to the garden', icon: 'plus', run: () => undefined },
	{ id: 'stop', label: 'Stop', isAvailable: () => false, icon: 'plus', run: () => undefined }
];

function summary(id: string, title: string, more: Partial<ConversationSummary> = {}) {
	const place = { is_archived: false, is_pinned: false, folder_id: null };
	return { id, title, update_time: 100, ...place, ...more };
}

/** Here are a garden and a cat; the server also knows where else a garden was spoken of. */
async function finder() {
	const answered: string[] = [];
	const api = new Api((path) => {
		const params = new URL(path, 'http://x').searchParams;
		const q = params.get('q');
		if (path.includes('folders')) return Promise.resolve(Response.json({ items: [] }));
		const here = [summary('c1', 'A garden plan'), summary('c2', 'Names for a cat')];
		const said = { snippet: '…the \u0002gard\u0003en gate…', message_id: 'm9' };
		const found = [summary('c3', 'Gates', said), summary('c1', 'A garden plan', said)];
		if (q !== null) answered.push(q);
		const items =
			params.get('is_pinned') === 'true' ? [] : q === null ? here : q === 'zz' ? [] : found;
		return Promise.resolve(Response.json({ items, total: items.length, limit: 20, offset: 0 }));
	});
	const conversations = new Conversations(api, null);
	await conversations.load();
	const went: string[] = [];
	const made = new Finder({ api, conversations }, ACTIONS, (path) => went.push(path), en.palette);
	return { finder: made, answered, went };
}

function type(finder: Finder, query: string): void {
	finder.query = query;
	finder.search();
}

const keys = ({ choices }: Finder) => choices.map(({ key }) => key);

test('before a letter is typed there are the recent ones and what can be done', async () => {
	const { finder: made } = await finder();

	expect(keys(made)).toEqual(['c1', 'c2', 'garden']);
});

test('what is here is found at once, and stays first when the server has answered', async () => {
	const { finder: made } = await finder();
	type(made, 'gard');
	expect(keys(made)).toEqual(['garden', 'c1']);
	expect(made.isSearching).toBe(true);

	await vi.advanceTimersByTimeAsync(200);
	expect(keys(made)).toEqual(['garden', 'c1', 'c3']);
	expect(made.isSearching).toBe(false);
});

test('the server is asked when the typing pauses, not for each letter', async () => {
	const { finder: made, answered } = await finder();
	for (const query of ['g', 'ga', 'gar']) type(made, query);
	await vi.advanceTimersByTimeAsync(200);

	expect(answered).toEqual(['gar']);
});

test('what no longer fits is gone before the server says so', async () => {
	const { finder: made } = await finder();
	type(made, 'gard');
	await vi.advanceTimersByTimeAsync(200);
	type(made, 'zz');
	expect(keys(made)).toEqual([]);
	expect(made.isSearching).toBe(true);

	await vi.advanceTimersByTimeAsync(200);
	expect(made.isSearching).toBe(false);
});

test('moving goes around at both ends', async () => {
	const { finder: made } = await finder();
	made.move(-1);
	expect(made.chosen?.key).toBe('garden');
	made.move(1);
	expect(made.chosen?.key).toBe('c1');
});

test('a conversation found by what was said in it opens there, and says so', async () => {
	const { finder: made, went } = await finder();
	type(made, 'gard');
	await vi.advanceTimersByTimeAsync(200);
	made.move(-1);
	made.chosen?.run();

	expect(made.chosen?.what).toBe('Enter goes to where it was said in “Gates”');
	expect(went).toEqual(['/c/c3#message/m9']);
});
