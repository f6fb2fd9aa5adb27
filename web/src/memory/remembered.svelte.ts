/**
 * Memories that somebody has before their eyes, as they are now, wherever they were changed: under
 * an answer or in the settings. Which of them a page shows, it does not know.
 */
import { SvelteMap } from 'svelte/reactivity';
import { failureOf, type Api } from '$/api/client';
import type { Memory } from '$/api/memory';

type Door = Pick<
	Api,
	'memoriesNamed' | 'changeMemory' | 'acceptMemory' | 'removeMemory' | 'bringBackMemory'
>;

export class Remembered {
	#api: Door;
	/** Null for one that is not there. */
	#known = new SvelteMap<string, Memory | null>();

	constructor(api: Door) {
		this.#api = api;
	}

	/** Undefined until it is known. */
	of(id: string): Memory | null | undefined {
		return this.#known.get(id);
	}

	/** Asks how they are now. Where nobody answers, they stay as they were. */
	async look(ids: string[]): Promise<void> {
		if (ids.length === 0) return;
		try {
			const found = new Map((await this.#api.memoriesNamed(ids)).map((one) => [one.id, one]));
			for (const id of ids) this.#known.set(id, found.get(id) ?? null);
		} catch (error) {
			failureOf(error);
		}
	}

	note(memory: Memory): void {
		this.#known.set(memory.id, memory);
	}

	async change(id: string, text: string): Promise<Memory> {
		return this.#noted(await this.#api.changeMemory(id, text));
	}

	async accept(id: string): Promise<Memory> {
		return this.#noted(await this.#api.acceptMemory(id));
	}

	async remove(id: string): Promise<void> {
		await this.#api.removeMemory(id);
		this.#known.set(id, null);
	}

	/** For a while after it was removed. */
	async bringBack(id: string): Promise<Memory> {
		return this.#noted(await this.#api.bringBackMemory(id));
	}

	/** All are gone. */
	clear(): void {
		for (const id of this.#known.keys()) this.#known.set(id, null);
	}

	#noted(memory: Memory): Memory {
		this.note(memory);
		return memory;
	}
}
