/** A person's memories, loaded a page at a time: all of them, or those a search finds. */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Failure, Memory } from '$/api/wire';
import type { MemoryCache } from '$/state/memoryCache.svelte';

const PAGE = 50;

export class PagedMemories {
	query = $state('');
	items = $state.raw<Memory[]>([]);
	/** How many memories match the query. Null until the first response. */
	total = $state<number | null>(null);
	/** How many memories there are, whatever the query. Null until the first response. */
	numAll = $state<number | null>(null);
	problem = $state.raw<Failure | null>(null);
	isLoading = $state(false);
	hasMore = $derived(this.items.length < (this.total ?? 0));
	isEmpty = $derived(this.numAll === 0);

	#api: Api;
	#memoryCache: MemoryCache;
	/** Counts requests, so that the response to an older one is ignored. */
	#requestId = 0;
	/** The query that found `items`. */
	#shownQuery = '';

	constructor(api: Api, memoryCache: MemoryCache) {
		this.#api = api;
		this.#memoryCache = memoryCache;
	}

	/** Loads the first page, newest memories first. The old items stay until it arrives. */
	load = () => this.#fetch(0);
	loadMore = () => this.#fetch(this.items.length);

	async add(text: string): Promise<Memory> {
		const memory = await this.#api.addMemory(text);
		this.#memoryCache.set(memory);
		this.query = '';
		await this.load();
		return memory;
	}

	async change({ id }: Memory, text: string): Promise<void> {
		this.#replace(await this.#memoryCache.change(id, text));
	}

	async accept({ id }: Memory): Promise<void> {
		this.#replace(await this.#memoryCache.accept(id));
	}

	async remove({ id }: Memory): Promise<void> {
		await this.#memoryCache.remove(id);
		if (!this.items.some((item) => item.id === id)) return;
		this.items = this.items.filter((item) => item.id !== id);
		this.#addToCounts(-1);
	}

	/** Inserts the memory by date. During a search only the server knows whether it matches: reload. */
	async restore(id: string): Promise<void> {
		const memory = await this.#memoryCache.restore(id);
		if (this.#shownQuery !== '' || this.query.trim() !== '') {
			this.numAll = (this.numAll ?? 0) + 1;
			return this.load();
		}
		if (this.items.some((item) => item.id === memory.id)) return;
		const index = this.items.findIndex((item) => item.created_at < memory.created_at);
		if (index !== -1) this.items = this.items.toSpliced(index, 0, memory);
		else if (!this.hasMore) this.items = [...this.items, memory];
		this.#addToCounts(1);
	}

	async clear(): Promise<void> {
		await this.#api.clearMemories();
		this.reset();
	}

	/** Empties the list after the server deleted every memory. */
	reset(): void {
		this.#memoryCache.clear();
		this.#requestId += 1;
		this.query = this.#shownQuery = '';
		this.items = [];
		this.total = this.numAll = 0;
		this.isLoading = false;
	}

	#addToCounts(change: 1 | -1): void {
		this.total = (this.total ?? 0) + change;
		this.numAll = (this.numAll ?? 0) + change;
	}

	#replace(memory: Memory): void {
		this.items = this.items.map((item) => (item.id === memory.id ? memory : item));
	}

	async #fetch(offset: number): Promise<void> {
		const requestId = ++this.#requestId;
		const query = this.query.trim();
		this.isLoading = true;
		try {
			const page = await this.#api.listMemories(query, offset, PAGE);
			const isOutdated = requestId !== this.#requestId;
			if (query === '' && (!isOutdated || this.numAll === null)) this.numAll = page.total;
			if (isOutdated) return;
			const all = offset === 0 ? page.items : [...this.items, ...page.items];
			this.items = [...new Map(all.map((item) => [item.id, item])).values()];
			this.total = page.items.length === 0 ? this.items.length : page.total;
			this.#shownQuery = query;
			this.problem = null;
		} catch (error) {
			const failure = toFailure(error);
			if (requestId === this.#requestId) this.problem = failure;
		} finally {
			if (requestId === this.#requestId) this.isLoading = false;
		}
	}
}
