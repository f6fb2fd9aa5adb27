/** The list of conversations, newest first, a page at a time, or those that match a search. */
import type { Api } from '$/api/client';
import type { ConversationSummary } from '$/api/wire';

export class Conversations {
	items = $state.raw<ConversationSummary[]>([]);
	query = $state('');
	problem = $state<string | null>(null);
	isLoading = $state(false);

	#total = $state(0);
	#asked = 0;
	#api: Api;

	hasMore = $derived(this.items.length < this.#total);
	isSearching = $derived(this.query.trim() !== '');

	constructor(api: Api) {
		this.#api = api;
	}

	/** From the top, for what the search field says now. */
	load = () => this.#fetch(0);

	more = async () => {
		if (this.hasMore && !this.isLoading) await this.#fetch(this.items.length);
	};

	/** A conversation has this title now; if something `isSaid` in it, it comes first. */
	note(id: string, title: string, isSaid: boolean): void {
		const known = this.items.find((item) => item.id === id);
		if (isSaid && !this.isSearching && this.items[0]?.id !== id) {
			const first = { id, title, update_time: Date.now() / 1000 };
			this.items = [first, ...this.items.filter((item) => item.id !== id)];
			if (known === undefined) this.#total += 1;
		} else if (known !== undefined && known.title !== title) {
			this.items = this.items.map((item) => (item.id === id ? { ...item, title } : item));
		}
	}

	async rename(id: string, title: string): Promise<void> {
		await this.#api.changeConversation(id, { title });
		this.note(id, title, false);
	}

	async remove(id: string): Promise<void> {
		await this.#api.deleteConversation(id);
		this.items = this.items.filter((item) => item.id !== id);
		this.#total -= 1;
	}

	async #fetch(offset: number): Promise<void> {
		const asked = ++this.#asked;
		this.isLoading = true;
		try {
			const page = await this.#api.conversations(offset, this.query.trim());
			if (asked !== this.#asked) return; // A later question has been asked meanwhile.
			const before = offset === 0 ? [] : this.items;
			const known = new Set(before.map(({ id }) => id));
			this.items = [...before, ...page.items.filter(({ id }) => !known.has(id))];
			this.#total = page.items.length === 0 ? this.items.length : page.total;
			this.problem = null;
		} catch (error) {
			if (!(error instanceof Error)) throw error;
			if (asked === this.#asked) this.problem = error.message;
		} finally {
			if (asked === this.#asked) this.isLoading = false;
		}
	}
}
