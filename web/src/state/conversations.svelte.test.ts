import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import { Conversations } from '$/state/conversations.svelte';

const ALL = Array.from({ length: 60 }, (_, i) => ({
	id: `c${i}`,
	title: `Title ${i}`,
	update_time: 1000 - i
}));

function list(): Conversations {
	const api = new Api((path, init) => {
		if (init?.method !== 'GET') return Promise.resolve(new Response(null, { status: 204 }));
		const params = new URL(path, 'http://x').searchParams;
		const [offset, limit] = [Number(params.get('offset')), Number(params.get('limit'))];
		const found = ALL.filter(({ title }) => title.includes(params.get('q') ?? ''));
		const items = found.slice(offset, offset + limit);
		return Promise.resolve(Response.json({ items, total: found.length, limit, offset }));
	});
	return new Conversations(api);
}

const ids = ({ items }: Conversations) => items.map(({ id }) => id);

test('the list grows page by page to its end', async () => {
	const conversations = list();
	await conversations.load();
	expect(conversations.items).toHaveLength(28);
	while (conversations.hasMore) await conversations.more();

	expect(ids(conversations)).toEqual(ALL.map(({ id }) => id));
});

test('a search shows what was found, and nothing else', async () => {
	const conversations = list();
	conversations.query = 'Title 5';
	await conversations.load();

	expect(ids(conversations)).toEqual(['c5', ...ALL.slice(50).map(({ id }) => id)]);
});

test('a conversation in which something is said comes first', async () => {
	const conversations = list();
	await conversations.load();
	conversations.note('c3', 'Title 3', true);
	conversations.note('new', 'New', true);

	expect(ids(conversations).slice(0, 3)).toEqual(['new', 'c3', 'c0']);
	expect(conversations.items).toHaveLength(29);
});

test('a conversation that is only opened stays where it is', async () => {
	const conversations = list();
	await conversations.load();
	conversations.note('c3', 'Renamed', false);

	expect(conversations.items[3]).toMatchObject({ id: 'c3', title: 'Renamed' });
});

test('what is deleted is gone from the list', async () => {
	const conversations = list();
	await conversations.load();
	await conversations.remove('c0');

	expect(ids(conversations)[0]).toBe('c1');
});
