import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { Memory } from '$/api/memory';
import { Memories } from '$/memory/memories.svelte';
import { Remembered } from '$/memory/remembered.svelte';

/** The newest is the first. */
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

/** A server with so many memories, that answers as ours does. */
function house(count: number) {
	let kept = Array.from({ length: count }, (_, i) => memory(i));
	const asked: string[] = [];
	const api = new Api(async (path, init) => {
		const { method = 'GET' } = init ?? {};
		const url = new URL(path, 'http://house');
		asked.push(`${method} ${url.pathname}${url.search}`);
		if (method === 'DELETE') {
			const id = url.pathname.split('/')[3];
			kept = id === undefined ? [] : kept.filter((one) => one.id !== id);
			return new Response(null, { status: 204 });
		}
		if (method === 'POST') {
			const [, , , id] = url.pathname.split('/');
			const back = memory(Number(id?.slice(1) ?? 999));
			kept = [...kept, back].sort((one, other) => other.created_at - one.created_at);
			return Response.json(back);
		}
		const offset = Number(url.searchParams.get('offset'));
		const limit = Number(url.searchParams.get('limit'));
		const found = kept.filter(({ text }) => text.includes(url.searchParams.get('q') ?? ''));
		return Response.json({ items: found.slice(offset, offset + limit), total: found.length });
	});
	return { memories: new Memories(api, new Remembered(api)), asked };
}

test('of ten thousand only a page is fetched, and then the next', async () => {
	const { memories, asked } = house(10_000);
	await memories.load();
	expect(memories.items).toHaveLength(50);
	expect(memories.total).toBe(10_000);

	await memories.more();

	expect(memories.items).toHaveLength(100);
	expect(asked).toHaveLength(2);
});

test('a search that finds nothing is not an empty memory', async () => {
	const { memories } = house(3);
	memories.query = 'nowhere';
	await memories.load();
	expect(memories.total).toBe(0);
	expect(memories.isEmpty).toBe(false);
});

test('one that is forgotten goes, and comes back to its place', async () => {
	const { memories } = house(3);
	await memories.load();
	await memories.remove(memory(1));
	expect(memories.items.map(({ id }) => id)).toEqual(['m0', 'm2']);

	await memories.bringBack('m1');

	expect(memories.items.map(({ id }) => id)).toEqual(['m0', 'm1', 'm2']);
	expect(memories.total).toBe(3);
});

test('the last of all comes back to the end, and not before the others are there', async () => {
	const { memories } = house(60);
	await memories.load();
	await memories.remove(memory(0));
	await memories.remove(memory(1));
	await memories.more();
	await memories.remove(memory(59));
	await memories.bringBack('m59');
	expect(memories.items.at(-1)?.id).toBe('m59');

	await memories.load();
	await memories.bringBack('m0');
	expect(memories.items[0]?.id).toBe('m0');
	expect(memories.total).toBe(59);
});

test('what is brought back is shown in a search only where it is found', async () => {
	const { memories } = house(5);
	await memories.load();
	await memories.remove(memory(1));
	memories.query = 'Fact 3';
	await memories.load();

	await memories.bringBack('m1');

	expect(memories.items.map(({ id }) => id)).toEqual(['m3']);
	expect(memories.total).toBe(1);
	expect(memories.numAll).toBe(5);
});

test('a search does not change how many there are', async () => {
	const { memories } = house(5);
	const whole = memories.load();
	memories.query = 'Fact 3';
	await Promise.all([whole, memories.load()]);
	expect(memories.total).toBe(1);
	expect(memories.numAll).toBe(5);

	await memories.remove(memory(3));

	expect(memories.numAll).toBe(4);
});

test('an answer that comes late does not undo a later search', async () => {
	const { memories } = house(12);
	const early = memories.load();
	memories.query = 'Fact 11';
	await memories.load();
	await early;
	expect(memories.items.map(({ id }) => id)).toEqual(['m11']);
});

test('when all is forgotten there is nothing, and that is known without asking', async () => {
	const { memories, asked } = house(3);
	await memories.load();
	const late = memories.load();
	await memories.clear();
	await late;
	expect(memories.isEmpty).toBe(true);
	expect(asked.at(-1)).toBe('DELETE /backend-api/memories');
});
