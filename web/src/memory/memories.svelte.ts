/** All that is remembered of somebody, a page at a time, and what a search finds among it. */
import { failureOf, type Api } from '$/api/client';
import type { Memory } from '$/api/memory';
import type { Failure } from '$/api/wire';
import type { Remembered } from '$/memory/remembered.svelte';

const PAGE = 50;

export class Memories {
	query = $state('');
	items = $state.raw<Memory[]>([]);
	/** How many the server has of those that are asked for. Null until it has said so. */
	total = $state<number | null>(null);
	problem = $state.raw<Failure | null>(null);
	isLoading = $state(false);
	hasMore = $derived(this.items.length < (this.total ?? 0));
	/** There is not a single one. */
	isEmpty = $derived.by(() => this.total === 0 && this.#answered === '');

	#api: Api;
	#remembered: Remembered;
	#asked = 0;
	/** The query that the items answer. */
	#answered = $state('');

	constructor(api: Api, remembered: Remembered) {
		this.#api = api;
		this.#remembered = remembered;
	}

	/** From the newest. What is shown stays until the answer is there. */
	load = () => this.#fetch(0);
	more = () => this.#fetch(this.items.length);

	async add(text: string): Promise<void> {
		const memory = await this.#api.addMemory(text);
		this.#remembered.note(memory);
		this.query = '';
		await this.load();
	}

	async change({ id }: Memory, text: string): Promise<void> {
		this.#replace(await this.#remembered.change(id, text));
	}

	async accept({ id }: Memory): Promise<void> {
		this.#replace(await this.#remembered.accept(id));
	}

	/** Where it was in the list, so that it can go back there. */
	async remove({ id }: Memory): Promise<number> {
		await this.#remembered.remove(id);
		const at = this.items.findIndex((item) => item.id === id);
		if (at !== -1) {
			this.items = this.items.toSpliced(at, 1);
			this.total = (this.total ?? 1) - 1;
		}
		return at;
	}

	async bringBack(id: string, at: number): Promise<void> {
		const memory = await this.#remembered.bringBack(id);
		if (at === -1 || this.items.some((item) => item.id === id)) return;
		this.items = this.items.toSpliced(at, 0, memory);
		this.total = (this.total ?? 0) + 1;
	}

	async clear(): Promise<void> {
		await this.#api.clearMemories();
		this.forget();
	}

	/** They were wiped on the server. */
	forget(): void {
		this.#remembered.clear();
		this.#asked += 1;
		this.query = this.#answered = '';
		this.items = [];
		this.total = 0;
		this.isLoading = false;
	}

	#replace(memory: Memory): void {
		this.items = this.items.map((item) => (item.id === memory.id ? memory : item));
	}

	async #fetch(offset: number): Promise<void> {
		const asked = ++this.#asked;
		const query = this.query.trim();
		this.isLoading = true;
		try {
			const page = await this.#api.memories(query, offset, PAGE);
			if (asked !== this.#asked) return; // A later question has been asked meanwhile.
			const all = offset === 0 ? page.items : [...this.items, ...page.items];
			this.items = [...new Map(all.map((item) => [item.id, item])).values()];
			this.total = page.items.length === 0 ? this.items.length : page.total;
			this.#answered = query;
			this.problem = null;
		} catch (error) {
			const failure = failureOf(error);
			if (asked === this.#asked) this.problem = failure;
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}
}
