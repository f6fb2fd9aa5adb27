import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { Memory } from '$/api/wire';
import { PagedMemories } from '$/settings/pagedMemories.svelte';
import { MemoryCache } from '$/state/memoryCache.svelte';

/** Memory 0 is the newest. */
function memory(i: number): Memory {
	return {
		id: `m${i}`,
		text: `Fact ${i}`,
		origin: 'written',
		conversation_id: null,
		is_suggested: false,
		is_shown: true,
		created_at: -i,
		updated_at: -i
	};
}

/** A list on top of a fake server that has `count` memories. */
function openMemories(count: number) {
	let stored = Array.from({ length: count }, (_, i) => memory(i));
	const requests: string[] = [];
	const api = new Api(async (path, init) => {
		const { method = 'GET' } = init ?? {};
		const url = new URL(path, 'http://server');
		requests.push(`${method} ${url.pathname}${url.search}`);
		if (method === 'DELETE') {
			const id = url.pathname.split('/')[3];
			stored = id === undefined ? [] : stored.filter((one) => one.id !== id);
			return new Response(null, { status: 204 });
		}
		if (method === 'POST') {
			const [, , , id] = url.pathname.split('/');
			const restored = memory(Number(id?.slice(1) ?? 999));
			stored = [...stored, restored].sort((one, other) => other.created_at - one.created_at);
			return Response.json(restored);
		}
		const offset = Number(url.searchParams.get('offset'));
		const limit = Number(url.searchParams.get('limit'));
		const found = stored.filter(({ text }) => text.includes(url.searchParams.get('q') ?? ''));
		return Response.json({ items: found.slice(offset, offset + limit), total: found.length });
	});
	return { memories: new PagedMemories(api, new MemoryCache(api)), requests };
}

test('a list of ten thousand is fetched one page at a time', async () => {
	const { memories, requests } = openMemories(10_000);
	await memories.load();
	expect(memories.items).toHaveLength(50);
	expect(memories.total).toBe(10_000);

	await memories.loadMore();

	expect(memories.items).toHaveLength(100);
	expect(requests).toHaveLength(2);
});

test('a search that finds nothing is not an empty memory', async () => {
	const { memories } = openMemories(3);
	memories.query = 'nowhere';
	await memories.load();
	expect(memories.total).toBe(0);
	expect(memories.isEmpty).toBe(false);
});

test('a restored memory goes back to its place', async () => {
	const { memories } = openMemories(3);
	await memories.load();
	await memories.remove(memory(1));
	expect(memories.items.map(({ id }) => id)).toEqual(['m0', 'm2']);

	await memories.restore('m1');

	expect(memories.items.map(({ id }) => id)).toEqual(['m0', 'm1', 'm2']);
	expect(memories.total).toBe(3);
});

test('the oldest memory is restored to the end of a complete list, and the newest to its beginning', async () => {
	const { memories } = openMemories(60);
	await memories.load();
	await memories.remove(memory(0));
	await memories.remove(memory(1));
	await memories.loadMore();
	await memories.remove(memory(59));
	await memories.restore('m59');
	expect(memories.items.at(-1)?.id).toBe('m59');

	await memories.load();
	await memories.restore('m0');
	expect(memories.items[0]?.id).toBe('m0');
	expect(memories.total).toBe(59);
});

test('a restored memory that does not match the search stays out of the list', async () => {
	const { memories } = openMemories(5);
	await memories.load();
	await memories.remove(memory(1));
	memories.query = 'Fact 3';
	await memories.load();

	await memories.restore('m1');

	expect(memories.items.map(({ id }) => id)).toEqual(['m3']);
	expect(memories.total).toBe(1);
	expect(memories.numAll).toBe(5);
});

test('a search does not change the count of all memories', async () => {
	const { memories } = openMemories(5);
	const whole = memories.load();
	memories.query = 'Fact 3';
	await Promise.all([whole, memories.load()]);
	expect(memories.total).toBe(1);
	expect(memories.numAll).toBe(5);

	await memories.remove(memory(3));

	expect(memories.numAll).toBe(4);
});

test('a late response does not replace the result of a newer search', async () => {
	const { memories } = openMemories(12);
	const early = memories.load();
	memories.query = 'Fact 11';
	await memories.load();
	await early;
	expect(memories.items.map(({ id }) => id)).toEqual(['m11']);
});

test('clearing empties the list without another request', async () => {
	const { memories, requests } = openMemories(3);
	await memories.load();
	const late = memories.load();
	await memories.clear();
	await late;
	expect(memories.isEmpty).toBe(true);
	expect(requests.at(-1)).toBe('DELETE /backend-api/memories');
});
