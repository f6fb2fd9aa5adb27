import { expect, test } from 'vitest';
import { Unreachable } from '$/api/http';
import type { Memory } from '$/api/wire';
import { MemoryCache } from '$/state/memoryCache.svelte';

const TEA: Memory = {
	id: 'tea',
	text: 'I like tea.',
	origin: 'asked',
	conversation_id: null,
	is_suggested: false,
	is_shown: true,
	created_at: 1,
	updated_at: 1
};

class FakeServer {
	memories = new Map([[TEA.id, TEA]]);
	isReachable = true;

	getMemories = async (ids: string[]) => {
		if (!this.isReachable) throw new Unreachable();
		return ids.flatMap((id) => this.memories.get(id) ?? []);
	};
	changeMemory = async (id: string, text: string) => this.#store({ ...TEA, id, text });
	acceptMemory = async (id: string) => this.#store({ ...TEA, id, is_suggested: false });
	restoreMemory = async (id: string) => this.#store({ ...TEA, id });
	removeMemory = async (id: string) => void this.memories.delete(id);

	#store(memory: Memory): Memory {
		this.memories.set(memory.id, memory);
		return memory;
	}
}

test('after a refresh an existing memory is returned and a missing one is null', async () => {
	const memoryCache = new MemoryCache(new FakeServer());
	expect(memoryCache.get('tea')).toBeUndefined();

	await memoryCache.refresh(['tea', 'coffee']);

	expect(memoryCache.get('tea')).toEqual(TEA);
	expect(memoryCache.get('coffee')).toBeNull();
});

test('a removed memory can be restored', async () => {
	const memoryCache = new MemoryCache(new FakeServer());
	await memoryCache.remove('tea');
	expect(memoryCache.get('tea')).toBeNull();

	await memoryCache.restore('tea');

	expect(memoryCache.get('tea')?.text).toBe('I like tea.');
});

test('a changed text is returned at once', async () => {
	const memoryCache = new MemoryCache(new FakeServer());
	await memoryCache.change('tea', 'I like green tea.');
	expect(memoryCache.get('tea')?.text).toBe('I like green tea.');
});

test('a failed refresh keeps the cached memories', async () => {
	const server = new FakeServer();
	const memoryCache = new MemoryCache(server);
	await memoryCache.refresh(['tea']);
	server.isReachable = false;

	await memoryCache.refresh(['tea', 'coffee']);

	expect(memoryCache.get('tea')).toEqual(TEA);
	expect(memoryCache.get('coffee')).toBeUndefined();
});

test('after clearing, every cached memory is null', async () => {
	const memoryCache = new MemoryCache(new FakeServer());
	await memoryCache.refresh(['tea']);
	memoryCache.clear();
	expect(memoryCache.get('tea')).toBeNull();
});
