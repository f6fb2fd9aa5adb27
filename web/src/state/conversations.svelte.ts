/**
 * The conversations of a person, each in one place: archived, pinned, in a folder, or recent.
 * A change is shown at once, and taken back if the server refuses it.
 */
import type { Api } from '$/api/client';
import type { ConversationChange, ConversationSummary } from '$/api/wire';
import { Folders } from '$/state/folders.svelte';
import { Shelf } from '$/state/shelf.svelte';

/** What can be changed about a conversation from its line in a list. */
export type Change = Omit<ConversationChange, 'current_node'>;

/** A conversation that was removed: its line in its place, and in what the search found. */
interface Removed {
	item: ConversationSummary | undefined;
	found: ConversationSummary | undefined;
	foundAt: number;
}

export class Conversations {
	readonly recent: Shelf;
	readonly pinned: Shelf;
	readonly archived: Shelf;
	readonly folders: Folders;
	/** What the search for `query` found, wherever it lies. */
	readonly found: Shelf;
	query = $state('');
	isSearching = $derived(this.query.trim() !== '');
	/** Whether what was found is the answer to what the search field says now. */
	isAnswered = $derived.by(() => this.#answered === this.query.trim());

	#api: Api;
	#answered = $state('');
	#removed = new Map<string, Removed>();
	/** Conversations on none of the pages loaded so far, and whether something is being said there. */
	#elsewhere = new Map<string, boolean>();

	constructor(api: Api, storage: Storage | null = globalThis.localStorage ?? null) {
		this.#api = api;
		this.recent = new Shelf(api, () => ({ is_pinned: false, folder_id: 'none' }));
		this.pinned = new Shelf(api, () => ({ is_pinned: true }));
		this.archived = new Shelf(api, () => ({ is_archived: true }));
		this.found = new Shelf(api, () => ({ q: this.query.trim() }));
		this.folders = new Folders(api, storage);
	}

	/** Everything the sidebar shows, as far as it is shown. */
	load = async () => {
		await Promise.all([this.pinned.refresh(), this.folders.load(), this.recent.refresh()]);
	};

	/** Looks for what the search field says now. */
	search = async () => {
		const query = this.query.trim();
		this.#answered = '';
		if (query === '') return this.found.clear();
		await this.found.load();
		if (query === this.query.trim() && this.found.problem === null) this.#answered = query;
	};

	find(id: string): ConversationSummary | undefined {
		for (const { items } of [...this.#places, this.found]) {
			const item = items.find((one) => one.id === id);
			if (item !== undefined) return item;
		}
		return undefined;
	}

	/** A conversation has this title now; if something `isSaid` in it, it comes first. */
	note(id: string, title: string, isSaid: boolean): void {
		if (this.#removed.has(id)) return;
		const known = this.find(id);
		if (known === undefined) this.#noteUnknown(id, title, isSaid);
		else if (isSaid && this.#home(known).items[0]?.id !== id) {
			this.#put({ ...known, title: title || known.title, update_time: Date.now() / 1000 });
		} else if (title !== '' && title !== known.title) this.#replace({ ...known, title });
	}

	rename = (id: string, title: string) => this.change(id, { title });

	/**
	 * Shown at once, and taken back if the server refuses it. `is_visible: false` deletes; for a
	 * minute, `true` brings it back to where it was.
	 */
	async change(id: string, change: Change): Promise<void> {
		const before = this.find(id);
		if (change.is_visible === false) this.#hide(id);
		else if (before !== undefined) this.#put({ ...before, ...change });
		try {
			await this.#api.changeConversation(id, change);
		} catch (error) {
			if (change.is_visible === false) this.#bringBack(id);
			else if (before !== undefined) this.#put(before);
			throw error;
		}
		if (change.is_visible === true) this.#bringBack(id);
		else if (before === undefined) await this.load();
	}

	createFolder = (name: string) => this.folders.create(name);
	renameFolder = (id: string, name: string) => this.folders.rename(id, name);

	/** Its conversations stay, and are recent ones again. */
	async removeFolder(id: string): Promise<void> {
		await this.folders.remove(id);
		await this.recent.refresh();
	}

	get #places(): Shelf[] {
		return [this.pinned, this.recent, this.archived, ...this.folders.shelves];
	}

	#home({ is_archived, is_pinned, folder_id }: ConversationSummary): Shelf {
		if (is_archived) return this.archived;
		if (is_pinned) return this.pinned;
		return folder_id === null ? this.recent : this.folders.shelf(folder_id);
	}

	/**
	 * Either it has just begun, or it lies on a page that has not been loaded. The server knows
	 * where that is, and surely knows that something was said when the answer is over.
	 */
	#noteUnknown(id: string, title: string, isSaid: boolean): void {
		const wasSaid = this.#elsewhere.get(id);
		if (wasSaid === undefined && isSaid) {
			const place = { is_archived: false, is_pinned: false, folder_id: null };
			this.recent.put({ id, title, update_time: Date.now() / 1000, ...place });
			return;
		}
		this.#elsewhere.set(id, isSaid);
		if (wasSaid && !isSaid) void this.load();
	}

	#hide(id: string): void {
		const foundAt = this.found.items.findIndex((found) => found.id === id);
		this.#removed.set(id, { item: this.find(id), found: this.found.items[foundAt], foundAt });
		this.#drop(id);
		this.found.drop(id);
	}

	#bringBack(id: string): void {
		const removed = this.#removed.get(id);
		this.#removed.delete(id);
		if (removed?.item === undefined) void this.load();
		else this.#put(removed.item);
		if (removed?.found !== undefined) this.found.put(removed.found, removed.foundAt);
	}

	#put(item: ConversationSummary): void {
		this.#drop(item.id);
		this.#home(item).put(item);
		this.found.replace(item);
	}

	#replace(item: ConversationSummary): void {
		for (const shelf of [...this.#places, this.found]) shelf.replace(item);
	}

	#drop(id: string): void {
		for (const shelf of this.#places) shelf.drop(id);
	}
}
