import { expect, test } from 'vitest';
import { Unreachable } from '$/api/client';
import type { Memory } from '$/api/memory';
import { Remembered } from '$/memory/remembered.svelte';

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
	kept = new Map([[TEA.id, TEA]]);
	isThere = true;

	memoriesNamed = async (ids: string[]) => {
		if (!this.isThere) throw new Unreachable();
		return ids.flatMap((id) => this.kept.get(id) ?? []);
	};
	changeMemory = async (id: string, text: string) => this.#keep({ ...TEA, id, text });
	acceptMemory = async (id: string) => this.#keep({ ...TEA, id, is_suggested: false });
	bringBackMemory = async (id: string) => this.#keep({ ...TEA, id });
	removeMemory = async (id: string) => void this.kept.delete(id);

	#keep(memory: Memory): Memory {
		this.kept.set(memory.id, memory);
		return memory;
	}
}

test('what is there is known from what is gone, once the server was asked', async () => {
	const remembered = new Remembered(new FakeServer());
	expect(remembered.of('tea')).toBeUndefined();

	await remembered.look(['tea', 'coffee']);

	expect(remembered.of('tea')).toEqual(TEA);
	expect(remembered.of('coffee')).toBeNull();
});

test('a memory that is removed can be brought back, and every page sees it', async () => {
	const remembered = new Remembered(new FakeServer());
	await remembered.remove('tea');
	expect(remembered.of('tea')).toBeNull();

	await remembered.bringBack('tea');

	expect(remembered.of('tea')?.text).toBe('I like tea.');
});

test('what is said differently reads so at once', async () => {
	const remembered = new Remembered(new FakeServer());
	await remembered.change('tea', 'I like green tea.');
	expect(remembered.of('tea')?.text).toBe('I like green tea.');
});

test('where nobody answers, nothing is taken for gone', async () => {
	const server = new FakeServer();
	const remembered = new Remembered(server);
	await remembered.look(['tea']);
	server.isThere = false;

	await remembered.look(['tea', 'coffee']);

	expect(remembered.of('tea')).toEqual(TEA);
	expect(remembered.of('coffee')).toBeUndefined();
});

test('when everything is forgotten, nothing that was seen is there', async () => {
	const remembered = new Remembered(new FakeServer());
	await remembered.look(['tea']);
	remembered.clear();
	expect(remembered.of('tea')).toBeNull();
});
