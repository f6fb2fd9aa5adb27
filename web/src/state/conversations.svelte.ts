/**
 * All conversation lists of a person. Each conversation is in one list: archived, pinned, a folder,
 * or recent. Changes are shown at once, and reverted if the server refuses them.
 */
import type { Api } from '$/api/client';
import type { ConversationChange, ConversationSummary } from '$/api/wire';
import { Folders } from '$/state/folders.svelte';
import { ConversationList } from '$/state/conversationList.svelte';

/** A change that the lists can make. */
export type Change = Omit<ConversationChange, 'current_node'>;

/** A deleted conversation, to be restored to its list and to the search results. */
interface Removed {
	item: ConversationSummary | undefined;
	found: ConversationSummary | undefined;
	foundAt: number;
}

export class Conversations {
	readonly recent: ConversationList;
	readonly pinned: ConversationList;
	readonly archived: ConversationList;
	readonly folders: Folders;
	/** The search results for `query`, from all lists. */
	readonly found: ConversationList;
	query = $state('');
	isSearching = $derived(this.query.trim() !== '');
	/** Whether `found` holds the results for the current query. */
	isAnswered = $derived.by(() => this.#answeredQuery === this.query.trim());

	#api: Api;
	#answeredQuery = $state('');
	#removed = new Map<string, Removed>();
	/** Conversations on no loaded page, and whether a turn runs in them. */
	#unloaded = new Map<string, boolean>();

	constructor(api: Api, storage: Storage | null = globalThis.localStorage ?? null) {
		this.#api = api;
		this.recent = new ConversationList(api, () => ({ is_pinned: false, folder_id: 'none' }));
		this.pinned = new ConversationList(api, () => ({ is_pinned: true }));
		this.archived = new ConversationList(api, () => ({ is_archived: true }));
		this.found = new ConversationList(api, () => ({ q: this.query.trim() }));
		this.folders = new Folders(api, storage);
	}

	/** Loads everything that the sidebar shows. */
	load = async () => {
		await Promise.all([this.pinned.refresh(), this.folders.load(), this.recent.refresh()]);
	};

	search = async () => {
		const query = this.query.trim();
		this.#answeredQuery = '';
		if (query === '') return this.found.clear();
		await this.found.load();
		if (query === this.query.trim() && this.found.problem === null) this.#answeredQuery = query;
	};

	find(id: string): ConversationSummary | undefined {
		for (const { items } of [...this.#lists, this.found]) {
			const item = items.find((one) => one.id === id);
			if (item !== undefined) return item;
		}
		return undefined;
	}

	/** Sets the title, and moves an active conversation to the top of its list. */
	update(id: string, title: string, isActive: boolean): void {
		if (this.#removed.has(id)) return;
		const known = this.find(id);
		if (known === undefined) this.#updateUnknown(id, title, isActive);
		else if (isActive && this.#findList(known).items[0]?.id !== id) {
			this.#put({ ...known, title: title || known.title, update_time: Date.now() / 1000 });
		} else if (title !== '' && title !== known.title) this.#replace({ ...known, title });
	}

	rename = (id: string, title: string) => this.change(id, { title });

	/** `is_visible: false` deletes; `true` undoes that for a minute. */
	async change(id: string, change: Change): Promise<void> {
		const before = this.find(id);
		if (change.is_visible === false) this.#hide(id);
		else if (before !== undefined) this.#put({ ...before, ...change });
		try {
			await this.#api.changeConversation(id, change);
		} catch (error) {
			if (change.is_visible === false) this.#restore(id);
			else if (before !== undefined) this.#put(before);
			throw error;
		}
		if (change.is_visible === true) this.#restore(id);
		else if (before === undefined) await this.load();
	}

	createFolder = (name: string) => this.folders.create(name);
	renameFolder = (id: string, name: string) => this.folders.rename(id, name);

	/** The folder's conversations move to the recent list. */
	async removeFolder(id: string): Promise<void> {
		await this.folders.remove(id);
		await this.recent.refresh();
	}

	get #lists(): ConversationList[] {
		return [this.pinned, this.recent, this.archived, ...this.folders.lists];
	}

	#findList({ is_archived, is_pinned, folder_id }: ConversationSummary): ConversationList {
		if (is_archived) return this.archived;
		if (is_pinned) return this.pinned;
		return folder_id === null ? this.recent : this.folders.list(folder_id);
	}

	/**
	 * The conversation is new, or on a page that is not loaded. In the second case the lists are
	 * reloaded after its turn, when the server has moved it to the top.
	 */
	#updateUnknown(id: string, title: string, isActive: boolean): void {
		const wasActive = this.#unloaded.get(id);
		if (wasActive === undefined && isActive) {
			const flags = { is_archived: false, is_pinned: false, folder_id: null };
			this.recent.put({ id, title, update_time: Date.now() / 1000, ...flags });
			return;
		}
		this.#unloaded.set(id, isActive);
		if (wasActive && !isActive) void this.load();
	}

	#hide(id: string): void {
		const foundAt = this.found.items.findIndex((found) => found.id === id);
		this.#removed.set(id, { item: this.find(id), found: this.found.items[foundAt], foundAt });
		this.#remove(id);
		this.found.remove(id);
	}

	#restore(id: string): void {
		const removed = this.#removed.get(id);
		this.#removed.delete(id);
		if (removed?.item === undefined) void this.load();
		else this.#put(removed.item);
		if (removed?.found !== undefined) this.found.put(removed.found, removed.foundAt);
	}

	#put(item: ConversationSummary): void {
		this.#remove(item.id);
		this.#findList(item).put(item);
		this.found.replace(item);
	}

	#replace(item: ConversationSummary): void {
		for (const list of [...this.#lists, this.found]) list.replace(item);
	}

	#remove(id: string): void {
		for (const list of this.#lists) list.remove(id);
	}
}
