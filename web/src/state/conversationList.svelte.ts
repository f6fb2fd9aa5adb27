/**
 * One list of conversations, newest first, a page at a time: recent, a folder, or search results.
 * Its caller decides which conversations belong on it.
 */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { ConversationPage, ConversationSummary, Failure, ConversationQuery } from '$/api/wire';

type Filter = Omit<ConversationQuery, 'offset' | 'limit'>;

const PAGE_SIZE = 28;
/** The server's maximum. */
const MAX_PAGE_SIZE = 100;

export class ConversationList {
	items = $state.raw<ConversationSummary[]>([]);
	problem = $state.raw<Failure | null>(null);
	isLoading = $state(false);
	isLoaded = $state(false);
	/** How many there are on the server, loaded or not. */
	total = $state(0);

	#numFetches = 0;
	/** Local changes during a fetch, whose answer may be older than they are. */
	#changesDuringFetch: (() => void)[] = [];
	#api: Api;
	#filter: () => Filter;

	hasMore = $derived(this.items.length < this.total);
	isEmpty = $derived(this.isLoaded && this.total === 0);

	constructor(api: Api, filter: () => Filter) {
		this.#api = api;
		this.#filter = filter;
	}

	/** Fetches the first page. The old items stay until the answer comes. */
	load = () => this.#fetch(0);

	/** Fetches all loaded items again, so the scroll position stays. */
	refresh = () => this.#fetch(0, this.items.length);

	loadMore = async () => {
		if (this.hasMore && !this.isLoading) await this.#fetch(this.items.length);
	};

	/** Fetches the page that failed: the first or the next one. */
	retry = () => (this.isLoaded && this.hasMore ? this.loadMore() : this.load());

	clear(): void {
		this.#numFetches += 1;
		this.#changesDuringFetch = [];
		this.items = [];
		this.total = 0;
		this.problem = null;
		this.isLoading = this.isLoaded = false;
	}

	/** Inserts a conversation by its time, or at `index`. One beyond the loaded pages is only counted. */
	put(item: ConversationSummary, index?: number): void {
		this.#change(() => {
			if (!this.isLoaded) return;
			this.#remove(item.id);
			const at = index ?? this.#indexFor(item);
			const isBeyond = at === this.items.length && this.hasMore;
			this.total += 1;
			if (!isBeyond) this.items = this.items.toSpliced(at, 0, item);
		});
	}

	remove(id: string): void {
		this.#change(() => this.#remove(id));
	}

	/** Changes an item without moving it. */
	replace(changed: ConversationSummary): void {
		this.#change(() => {
			if (!this.has(changed.id)) return;
			this.items = this.items.map((item) =>
				item.id === changed.id ? { ...item, ...changed } : item
			);
		});
	}

	has = (id: string) => this.items.some((item) => item.id === id);

	#change(change: () => void): void {
		change();
		if (this.isLoading) this.#changesDuringFetch.push(change);
	}

	#remove(id: string): void {
		const left = this.items.filter((item) => item.id !== id);
		this.total -= this.items.length - left.length;
		this.items = left;
	}

	#indexFor({ update_time }: ConversationSummary): number {
		const index = this.items.findIndex((item) => item.update_time <= update_time);
		return index === -1 ? this.items.length : index;
	}

	async #fetch(offset: number, numItems = 0): Promise<void> {
		const fetchId = ++this.#numFetches;
		this.isLoading = true;
		try {
			const page = await this.#request(offset, Math.max(numItems, PAGE_SIZE));
			if (fetchId !== this.#numFetches) return; // A newer fetch has started.
			const all = offset === 0 ? page.items : [...this.items, ...page.items];
			this.items = [...new Map(all.map((item) => [item.id, item])).values()];
			this.total = page.items.length === 0 ? this.items.length : page.total;
			this.problem = null;
			this.isLoaded = true;
			for (const change of this.#changesDuringFetch) change();
		} catch (error) {
			const failure = toFailure(error);
			if (fetchId === this.#numFetches) this.problem = failure;
		} finally {
			if (fetchId === this.#numFetches) {
				this.isLoading = false;
				this.#changesDuringFetch = [];
			}
		}
	}

	async #request(offset: number, numItems: number): Promise<ConversationPage> {
		const limit = Math.min(numItems, MAX_PAGE_SIZE);
		const page = await this.#api.listConversations({ ...this.#filter(), offset, limit });
		if (limit === numItems || page.items.length < limit) return page;
		const rest = await this.#request(offset + limit, numItems - limit);
		return { ...page, items: [...page.items, ...rest.items] };
	}
}
