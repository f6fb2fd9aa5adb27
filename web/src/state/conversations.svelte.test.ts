import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import { Unreachable } from '$/api/http';
import type { ConversationChange, ConversationSummary } from '$/api/wire';
import { Conversations } from '$/state/conversations.svelte';
import type { ConversationList } from '$/state/conversationList.svelte';

type StoredConversation = ConversationSummary & { is_visible: boolean };

/** A fake server with sixty conversations and one folder. */
class FakeServer {
	isDown = false;
	folders = [{ id: 'f1', name: 'Work', num_conversations: 2 }];
	all: StoredConversation[] = Array.from({ length: 60 }, (_, i) => ({
		id: `c${i}`,
		title: `Title ${i}`,
		update_time: 1000 - i,
		is_archived: i === 50,
		is_pinned: i === 2,
		folder_id: i === 4 || i === 6 ? 'f1' : null,
		is_visible: true
	}));

	answer = (path: string, init?: RequestInit): Promise<Response> => {
		if (this.isDown) return Promise.reject(new Unreachable());
		const url = new URL(path, 'http://x');
		const [, , what = '', id = ''] = url.pathname.split('/');
		const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as unknown) : null;
		return Promise.resolve(this.#answer(`${init?.method} ${what}`, id, url.searchParams, body));
	};

	#answer(route: string, id: string, params: URLSearchParams, body: unknown): Response {
		switch (route) {
			case 'GET conversations':
				return Response.json(this.#page(params));
			case 'GET folders':
				return Response.json({ items: this.folders });
			case 'POST folders':
				return Response.json({ id: 'f2', num_conversations: 0, ...(body as { name: string }) });
			case 'PATCH conversation':
				this.#change(id, body as ConversationChange);
				return new Response(null, { status: 204 });
			case 'DELETE folders':
				for (const item of this.all)
					if (item.folder_id === id) this.#change(item.id, { folder_id: null });
				return new Response(null, { status: 204 });
			default:
				return new Response(null, { status: 204 });
		}
	}

	#change(id: string, change: ConversationChange): void {
		this.all = this.all.map((item) => (item.id === id ? { ...item, ...change } : item));
	}

	#page(params: URLSearchParams) {
		const offset = Number(params.get('offset'));
		const limit = Math.min(Number(params.get('limit')), 100);
		const q = params.get('q');
		const found = this.all.filter((item) => {
			if (!item.is_visible) return false;
			if (q !== null) return item.title.includes(q);
			const folder = params.get('folder_id');
			return (
				item.is_archived === (params.get('is_archived') === 'true') &&
				(!params.has('is_pinned') || item.is_pinned === (params.get('is_pinned') === 'true')) &&
				(folder === null || item.folder_id === (folder === 'none' ? null : folder))
			);
		});
		const items = found
			.slice(offset, offset + limit)
			.map((item) => (q === null ? item : { ...item, snippet: `…${q}…`, message_id: 'm1' }));
		return { items, total: found.length, limit, offset };
	}
}

class FakeStorage {
	entries = new Map<string, string>();
	getItem = (key: string) => this.entries.get(key) ?? null;
	setItem = (key: string, value: string) => void this.entries.set(key, value);
}

async function loadConversations(server = new FakeServer(), storage = new FakeStorage()) {
	const conversations = new Conversations(new Api(server.answer), storage as unknown as Storage);
	await conversations.load();
	return { conversations, server, storage };
}

const ids = ({ items }: ConversationList) => items.map(({ id }) => id);

test('each conversation is in one list', async () => {
	const { conversations } = await loadConversations();
	await conversations.folders.toggle('f1');
	await conversations.archived.load();

	expect(ids(conversations.pinned)).toEqual(['c2']);
	expect(ids(conversations.folders.list('f1'))).toEqual(['c4', 'c6']);
	expect(ids(conversations.archived)).toEqual(['c50']);
	expect(ids(conversations.recent).slice(0, 5)).toEqual(['c0', 'c1', 'c3', 'c5', 'c7']);
});

test('a list is loaded page by page to its end', async () => {
	const { conversations } = await loadConversations();
	expect(conversations.recent.items).toHaveLength(28);
	while (conversations.recent.hasMore) await conversations.recent.loadMore();

	expect(conversations.recent.items).toHaveLength(56);
	expect(new Set(ids(conversations.recent)).size).toBe(56);
});

test('a fetch does not undo local changes made meanwhile', async () => {
	const server = new FakeServer();
	const conversations = new Conversations(new Api(server.answer), null);
	const loading = conversations.load();
	conversations.update('c99', 'Just begun', true);
	await loading;
	expect(ids(conversations.recent).slice(0, 2)).toEqual(['c99', 'c0']);
	expect(conversations.recent.total).toBe(57);

	const again = conversations.load();
	await conversations.change('c0', { is_visible: false });
	await conversations.rename('c1', 'Renamed');
	await again;
	expect(ids(conversations.recent).slice(0, 2)).toEqual(['c1', 'c3']);
	expect(conversations.recent.items[0]).toMatchObject({ title: 'Renamed' });
});

test('a reload fetches every loaded page again', async () => {
	const server = new FakeServer();
	const { all } = server;
	server.all = [0, 1, 2, 3].flatMap((i) => all.map((item) => ({ ...item, id: `${item.id} ${i}` })));
	const { conversations } = await loadConversations(server);
	for (let i = 0; i < 5; i++) await conversations.recent.loadMore();
	const before = ids(conversations.recent);
	expect(before).toHaveLength(6 * 28);
	await conversations.load();

	expect(ids(conversations.recent)).toEqual(before);
	expect(conversations.recent.hasMore).toBe(true);
});

test('the results of an earlier query do not count for a new one', async () => {
	const { conversations } = await loadConversations();
	conversations.query = 'nowhere';
	await conversations.search();
	expect(conversations.isAnswered).toBe(true);

	conversations.query = 'Title 5';
	expect(conversations.isAnswered).toBe(false);
	await conversations.search();
	expect(conversations.isAnswered).toBe(true);
});

test('a search finds conversations of all lists', async () => {
	const { conversations } = await loadConversations();
	conversations.query = 'Title 5';
	await conversations.search();

	expect(ids(conversations.found).slice(0, 2)).toEqual(['c5', 'c50']);
	conversations.query = '';
	await conversations.search();
	expect(conversations.found.items).toEqual([]);
});

test('an active conversation moves to the top', async () => {
	const { conversations } = await loadConversations();
	conversations.update('c3', 'Title 3', true);
	conversations.update('new', 'New', true);

	expect(ids(conversations.recent).slice(0, 3)).toEqual(['new', 'c3', 'c0']);
});

test('an active conversation in a folder moves to the top of the folder', async () => {
	const { conversations } = await loadConversations();
	await conversations.folders.toggle('f1');
	conversations.update('c6', 'Title 6', true);

	expect(ids(conversations.folders.list('f1'))).toEqual(['c6', 'c4']);
	expect(ids(conversations.recent)).not.toContain('c6');
});

test('a conversation that is only opened or renamed keeps its position', async () => {
	const { conversations } = await loadConversations();
	conversations.update('c3', '', false);
	conversations.update('c3', 'Renamed', false);

	expect(conversations.recent.items[2]).toMatchObject({ id: 'c3', title: 'Renamed' });
});

test('a conversation beyond the loaded pages is fetched after its turn', async () => {
	const { conversations, server } = await loadConversations();
	conversations.update('c55', 'Title 55', false);
	server.all = [
		{ ...(server.all[55] as StoredConversation), update_time: 2000, is_pinned: true },
		...server.all
	];
	server.all.splice(56, 1);
	conversations.update('c55', 'Title 55', true);
	expect(ids(conversations.recent)).not.toContain('c55');
	conversations.update('c55', 'Title 55', false);
	await expect.poll(() => ids(conversations.pinned)).toEqual(['c55', 'c2']);

	expect(ids(conversations.recent)).not.toContain('c55');
});

test('a renamed conversation keeps its position', async () => {
	const { conversations } = await loadConversations();
	await conversations.rename('c3', 'Renamed');

	expect(conversations.recent.items[2]).toMatchObject({ id: 'c3', title: 'Renamed' });
});

test('pinning, archiving and moving change the list of a conversation', async () => {
	const { conversations } = await loadConversations();
	await conversations.archived.load();
	await conversations.folders.toggle('f1');

	await conversations.change('c3', { is_pinned: true });
	await conversations.change('c5', { folder_id: 'f1' });
	await conversations.change('c7', { is_archived: true });

	expect(ids(conversations.pinned)).toEqual(['c2', 'c3']);
	expect(ids(conversations.folders.list('f1'))).toEqual(['c4', 'c5', 'c6']);
	expect(ids(conversations.archived)).toEqual(['c7', 'c50']);
	expect(ids(conversations.recent).slice(0, 3)).toEqual(['c0', 'c1', 'c8']);
});

test('an unpinned conversation returns to its folder', async () => {
	const { conversations } = await loadConversations();
	await conversations.folders.toggle('f1');
	await conversations.change('c4', { is_pinned: true });
	expect(ids(conversations.folders.list('f1'))).toEqual(['c6']);
	await conversations.change('c4', { is_pinned: false });

	expect(ids(conversations.folders.list('f1'))).toEqual(['c4', 'c6']);
});

test('a refused change is reverted', async () => {
	const { conversations, server } = await loadConversations();
	server.isDown = true;
	const pinning = conversations.change('c0', { is_pinned: true });
	expect(ids(conversations.pinned)).toEqual(['c0', 'c2']);

	await expect(pinning).rejects.toThrow(Unreachable);
	expect(ids(conversations.pinned)).toEqual(['c2']);
	expect(ids(conversations.recent)[0]).toBe('c0');
});

test('a deleted conversation disappears at once, and is restored to its position', async () => {
	const { conversations } = await loadConversations();
	conversations.query = 'Title 3';
	await conversations.search();
	const [before, foundBefore] = [ids(conversations.recent), conversations.found.items];

	const removing = conversations.change('c3', { is_visible: false });
	expect(ids(conversations.recent)).not.toContain('c3');
	expect(ids(conversations.found)).not.toContain('c3');
	await removing;
	conversations.update('c3', 'Title 3', true);
	expect(ids(conversations.recent)).not.toContain('c3');

	await conversations.change('c3', { is_visible: true });
	expect(ids(conversations.recent)).toEqual(before);
	expect(conversations.found.items).toEqual(foundBefore);
});

test('a conversation whose deletion failed is still listed', async () => {
	const { conversations, server } = await loadConversations();
	server.isDown = true;

	await expect(conversations.change('c0', { is_visible: false })).rejects.toThrow(Unreachable);
	expect(ids(conversations.recent)[0]).toBe('c0');
});

test('deleting a folder keeps its conversations', async () => {
	const { conversations } = await loadConversations();
	await conversations.removeFolder('f1');

	expect(conversations.folders.items).toEqual([]);
	expect(ids(conversations.recent)).toEqual(expect.arrayContaining(['c4', 'c6']));
});

test('folders are sorted by name', async () => {
	const { conversations } = await loadConversations();
	await conversations.createFolder('ärger');

	expect(conversations.folders.items.map(({ name }) => name)).toEqual(['ärger', 'Work']);
});

test('an open folder is open again after a reload', async () => {
	const { conversations, server, storage } = await loadConversations();
	await conversations.folders.toggle('f1');
	const again = await loadConversations(server, storage);

	expect(again.conversations.folders.isOpen('f1')).toBe(true);
	expect(ids(again.conversations.folders.list('f1'))).toEqual(['c4', 'c6']);
});

test('a list that failed to load has a problem, and can be retried', async () => {
	const server = new FakeServer();
	server.isDown = true;
	const { conversations } = await loadConversations(server);
	expect(conversations.recent.problem).toMatchObject({ code: 'unreachable' });
	expect(conversations.recent.isLoaded).toBe(false);

	server.isDown = false;
	await conversations.recent.retry();
	expect(conversations.recent.problem).toBe(null);
	expect(conversations.recent.items).toHaveLength(28);
});
