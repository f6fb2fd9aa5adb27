/**
 * One list of conversations, newest first, a page at a time: the recent ones, those of a
 * folder, those that a search found. It does not know which conversations belong on it.
 */
import { failureOf, type Api } from '$/api/client';
import type { ConversationPage, ConversationSummary, Failure, Which } from '$/api/wire';

type Kind = Omit<Which, 'offset' | 'limit'>;

const PAGE = 28;
/** The server gives no more in one answer. */
const MOST_AT_ONCE = 100;

export class Shelf {
	items = $state.raw<ConversationSummary[]>([]);
	problem = $state.raw<Failure | null>(null);
	isLoading = $state(false);
	isLoaded = $state(false);
	/** How many there are on the server. */
	total = $state(0);

	#asked = 0;
	/** What was changed here while the server was asked: its answer may be from before. */
	#meanwhile: (() => void)[] = [];
	#api: Api;
	#which: () => Kind;

	hasMore = $derived(this.items.length < this.total);
	isEmpty = $derived(this.isLoaded && this.total === 0);

	constructor(api: Api, which: () => Kind) {
		this.#api = api;
		this.#which = which;
	}

	/** From the top. What is shown stays until the answer is there. */
	load = () => this.#fetch(0);

	/** As many as are shown, as they are now: so nobody loses their place. */
	refresh = () => this.#fetch(0, this.items.length);

	more = async () => {
		if (this.hasMore && !this.isLoading) await this.#fetch(this.items.length);
	};

	/** What failed last: the first page, or the next one. */
	tryAgain = () => (this.isLoaded && this.hasMore ? this.more() : this.load());

	clear(): void {
		this.#asked += 1;
		this.#meanwhile = [];
		this.items = [];
		this.total = 0;
		this.problem = null;
		this.isLoading = this.isLoaded = false;
	}

	/** Puts a conversation where its time says, or at `index`. One beyond the last page comes with its page. */
	put(item: ConversationSummary, index?: number): void {
		this.#change(() => {
			if (!this.isLoaded) return;
			this.#take(item.id);
			const at = index ?? this.#placeOf(item);
			const isBeyond = at === this.items.length && this.hasMore;
			this.total += 1;
			if (!isBeyond) this.items = this.items.toSpliced(at, 0, item);
		});
	}

	drop(id: string): void {
		this.#change(() => this.#take(id));
	}

	/** The same place, seen anew. */
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
		if (this.isLoading) this.#meanwhile.push(change);
	}

	#take(id: string): void {
		const left = this.items.filter((item) => item.id !== id);
		this.total -= this.items.length - left.length;
		this.items = left;
	}

	#placeOf({ update_time }: ConversationSummary): number {
		const index = this.items.findIndex((item) => item.update_time <= update_time);
		return index === -1 ? this.items.length : index;
	}

	async #fetch(offset: number, numShown = 0): Promise<void> {
		const asked = ++this.#asked;
		this.isLoading = true;
		try {
			const page = await this.#read(offset, Math.max(numShown, PAGE));
			if (asked !== this.#asked) return; // A later question has been asked meanwhile.
			const all = offset === 0 ? page.items : [...this.items, ...page.items];
			this.items = [...new Map(all.map((item) => [item.id, item])).values()];
			this.total = page.items.length === 0 ? this.items.length : page.total;
			this.problem = null;
			this.isLoaded = true;
			for (const change of this.#meanwhile) change();
		} catch (error) {
			const failure = failureOf(error);
			if (asked === this.#asked) this.problem = failure;
		} finally {
			if (asked === this.#asked) {
				this.isLoading = false;
				this.#meanwhile = [];
			}
		}
	}

	async #read(offset: number, num: number): Promise<ConversationPage> {
		const limit = Math.min(num, MOST_AT_ONCE);
		const page = await this.#api.conversations({ ...this.#which(), offset, limit });
		if (limit === num || page.items.length < limit) return page;
		const rest = await this.#read(offset + limit, num - limit);
		return { ...page, items: [...page.items, ...rest.items] };
	}
}
