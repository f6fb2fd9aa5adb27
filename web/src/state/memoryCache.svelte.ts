/** The memories on the screen, by id, shared by the chat and the settings so that both show every change. */
import { SvelteMap } from 'svelte/reactivity';
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Memory } from '$/api/wire';

type MemoryApi = Pick<
	Api,
	'getMemories' | 'changeMemory' | 'acceptMemory' | 'removeMemory' | 'restoreMemory'
>;

export class MemoryCache {
	#api: MemoryApi;
	/** Null if the server has no memory of that id. */
	#memories = new SvelteMap<string, Memory | null>();

	constructor(api: MemoryApi) {
		this.#api = api;
	}

	/** Undefined until the server was asked, null if the memory does not exist. */
	get(id: string): Memory | null | undefined {
		return this.#memories.get(id);
	}

	set(memory: Memory): void {
		this.#memories.set(memory.id, memory);
	}

	/** Fetches these memories. Keeps the cached values if the request fails. */
	async refresh(ids: string[]): Promise<void> {
		if (ids.length === 0) return;
		try {
			const found = new Map((await this.#api.getMemories(ids)).map((one) => [one.id, one]));
			for (const id of ids) this.#memories.set(id, found.get(id) ?? null);
		} catch (error) {
			toFailure(error);
		}
	}

	async change(id: string, text: string): Promise<Memory> {
		return this.#store(await this.#api.changeMemory(id, text));
	}

	async accept(id: string): Promise<Memory> {
		return this.#store(await this.#api.acceptMemory(id));
	}

	async remove(id: string): Promise<void> {
		await this.#api.removeMemory(id);
		this.#memories.set(id, null);
	}

	/** The server restores a removed memory for ten minutes. */
	async restore(id: string): Promise<Memory> {
		return this.#store(await this.#api.restoreMemory(id));
	}

	/** Call after every memory was deleted on the server. */
	clear(): void {
		for (const id of this.#memories.keys()) this.#memories.set(id, null);
	}

	#store(memory: Memory): Memory {
		this.set(memory);
		return memory;
	}
}
