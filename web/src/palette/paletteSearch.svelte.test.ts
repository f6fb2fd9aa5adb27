import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { ConversationSummary } from '$/api/wire';
import { PaletteSearch } from '$/palette/paletteSearch.svelte';
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

/** Two conversations are loaded; the server finds another one that mentions a garden. */
async function openSearch() {
	const queries: string[] = [];
	const api = new Api((path) => {
		const params = new URL(path, 'http://x').searchParams;
		const q = params.get('q');
		if (path.includes('folders')) return Promise.resolve(Response.json({ items: [] }));
		const here = [summary('c1', 'A garden plan'), summary('c2', 'Names for a cat')];
		const match = { snippet: '…the \u0002gard\u0003en gate…', message_id: 'm9' };
		const found = [summary('c3', 'Gates', match), summary('c1', 'A garden plan', match)];
		if (q !== null) queries.push(q);
		const items =
			params.get('is_pinned') === 'true' ? [] : q === null ? here : q === 'zz' ? [] : found;
		return Promise.resolve(Response.json({ items, total: items.length, limit: 20, offset: 0 }));
	});
	const conversations = new Conversations(api, null);
	await conversations.load();
	const visited: string[] = [];
	const search = new PaletteSearch(
		{ api, conversations },
		ACTIONS,
		(path) => visited.push(path),
		en.palette
	);
	return { search, queries, visited };
}

function type(search: PaletteSearch, query: string): void {
	search.query = query;
	search.search();
}

const keys = ({ choices }: PaletteSearch) => choices.map(({ key }) => key);

test('without a query the palette lists recent conversations and actions', async () => {
	const { search } = await openSearch();

	expect(keys(search)).toEqual(['c1', 'c2', 'garden']);
});

test('loaded conversations match at once and stay first when the server answers', async () => {
	const { search } = await openSearch();
	type(search, 'gard');
	expect(keys(search)).toEqual(['garden', 'c1']);
	expect(search.isSearching).toBe(true);

	await vi.advanceTimersByTimeAsync(200);
	expect(keys(search)).toEqual(['garden', 'c1', 'c3']);
	expect(search.isSearching).toBe(false);
});

test('the server is asked after a pause in typing', async () => {
	const { search, queries } = await openSearch();
	for (const query of ['g', 'ga', 'gar']) type(search, query);
	await vi.advanceTimersByTimeAsync(200);

	expect(queries).toEqual(['gar']);
});

test('results that no longer match disappear before the server answers', async () => {
	const { search } = await openSearch();
	type(search, 'gard');
	await vi.advanceTimersByTimeAsync(200);
	type(search, 'zz');
	expect(keys(search)).toEqual([]);
	expect(search.isSearching).toBe(true);

	await vi.advanceTimersByTimeAsync(200);
	expect(search.isSearching).toBe(false);
});

test('the selection wraps around at both ends', async () => {
	const { search } = await openSearch();
	search.move(-1);
	expect(search.chosen?.key).toBe('garden');
	search.move(1);
	expect(search.chosen?.key).toBe('c1');
});

test('a conversation found by a message opens at that message', async () => {
	const { search, visited } = await openSearch();
	type(search, 'gard');
	await vi.advanceTimersByTimeAsync(200);
	search.move(-1);
	search.chosen?.run();

	expect(search.chosen?.hint).toBe('Enter goes to where it was said in “Gates”');
	expect(visited).toEqual(['/c/c3#message/m9']);
});
