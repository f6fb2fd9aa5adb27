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
	/** How many there are, whatever is asked for. Null until the server has said so. */
	numAll = $state<number | null>(null);
	problem = $state.raw<Failure | null>(null);
	isLoading = $state(false);
	hasMore = $derived(this.items.length < (this.total ?? 0));
	/** There is not a single one. */
	isEmpty = $derived(this.numAll === 0);

	#api: Api;
	#remembered: Remembered;
	#asked = 0;
	/** The query that the items answer. */
	#answered = '';

	constructor(api: Api, remembered: Remembered) {
		this.#api = api;
		this.#remembered = remembered;
	}

	/** From the newest. What is shown stays until the answer is there. */
	load = () => this.#fetch(0);
	more = () => this.#fetch(this.items.length);

	async add(text: string): Promise<Memory> {
		const memory = await this.#api.addMemory(text);
		this.#remembered.note(memory);
		this.query = '';
		await this.load();
		return memory;
	}

	async change({ id }: Memory, text: string): Promise<void> {
		this.#replace(await this.#remembered.change(id, text));
	}

	async accept({ id }: Memory): Promise<void> {
		this.#replace(await this.#remembered.accept(id));
	}

	async remove({ id }: Memory): Promise<void> {
		await this.#remembered.remove(id);
		if (!this.items.some((item) => item.id === id)) return;
		this.items = this.items.filter((item) => item.id !== id);
		this.#count(-1);
	}

	/** To its place in the list of all. Whether a search finds it, the server knows. */
	async bringBack(id: string): Promise<void> {
		const memory = await this.#remembered.bringBack(id);
		if (this.#answered !== '' || this.query.trim() !== '') {
			this.numAll = (this.numAll ?? 0) + 1;
			return this.load();
		}
		if (this.items.some((item) => item.id === memory.id)) return;
		const at = this.items.findIndex((item) => item.created_at < memory.created_at);
		if (at !== -1) this.items = this.items.toSpliced(at, 0, memory);
		else if (!this.hasMore) this.items = [...this.items, memory];
		this.#count(1);
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
		this.total = this.numAll = 0;
		this.isLoading = false;
	}

	#count(more: 1 | -1): void {
		this.total = (this.total ?? 0) + more;
		this.numAll = (this.numAll ?? 0) + more;
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
			const isLate = asked !== this.#asked;
			if (query === '' && (!isLate || this.numAll === null)) this.numAll = page.total;
			if (isLate) return; // A later question has been asked meanwhile.
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
