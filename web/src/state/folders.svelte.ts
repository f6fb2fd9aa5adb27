/** A person's folders, which of them are open, and the conversations in the open ones. */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Failure, Folder } from '$/api/wire';
import { ConversationList } from '$/state/conversationList.svelte';

const KEY = 'hitsend.open-folders';

export class Folders {
	items = $state.raw<Folder[]>([]);
	problem = $state.raw<Failure | null>(null);

	#open = $state.raw<ReadonlySet<string>>(new Set());
	#lists = new Map<string, ConversationList>();
	#api: Api;
	#storage: Storage | null;

	constructor(api: Api, storage: Storage | null) {
		this.#api = api;
		this.#storage = storage;
		this.#open = readOpen(storage);
	}

	/** Loads the folders, and the conversations of the open ones. */
	load = async () => {
		try {
			this.items = await this.#api.listFolders();
			this.problem = null;
		} catch (error) {
			this.problem = toFailure(error);
			return;
		}
		await Promise.all(
			this.items.filter(({ id }) => this.isOpen(id)).map(({ id }) => this.#loadList(id))
		);
	};

	find = (id: string | null) => this.items.find((folder) => folder.id === id);

	isOpen = (id: string) => this.#open.has(id);

	async toggle(id: string, isOpen = !this.isOpen(id)): Promise<void> {
		const open = new Set(this.#open);
		if (isOpen) open.add(id);
		else open.delete(id);
		this.#open = open;
		this.#storeOpen();
		if (isOpen) await this.#loadList(id);
	}

	/** The conversations of a folder. They are fetched when the folder is opened. */
	list(id: string): ConversationList {
		const known = this.#lists.get(id);
		if (known !== undefined) return known;
		const made = new ConversationList(this.#api, () => ({ folder_id: id, is_pinned: false }));
		this.#lists.set(id, made);
		return made;
	}

	get lists(): ConversationList[] {
		return [...this.#lists.values()];
	}

	async create(name: string): Promise<Folder> {
		const folder = await this.#api.createFolder(name);
		this.items = sortByName([...this.items, folder]);
		return folder;
	}

	async rename(id: string, name: string): Promise<void> {
		await this.#api.renameFolder(id, name);
		this.items = sortByName(
			this.items.map((folder) => (folder.id === id ? { ...folder, name } : folder))
		);
	}

	/** The folder's conversations are kept. */
	async remove(id: string): Promise<void> {
		await this.#api.deleteFolder(id);
		this.items = this.items.filter((folder) => folder.id !== id);
		this.#lists.delete(id);
		await this.toggle(id, false);
	}

	#loadList = (id: string) => this.list(id).refresh();

	#storeOpen(): void {
		try {
			this.#storage?.setItem(KEY, JSON.stringify([...this.#open]));
		} catch (error) {
			// Storage is off or full: open folders are forgotten with the page.
			if (!(error instanceof DOMException)) throw error;
		}
	}
}

function readOpen(storage: Storage | null): ReadonlySet<string> {
	try {
		const stored: unknown = JSON.parse(storage?.getItem(KEY) ?? '[]');
		return new Set(Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : []);
	} catch {
		return new Set();
	}
}

function sortByName(folders: Folder[]): Folder[] {
	return folders.toSorted((a, b) =>
		a.name.localeCompare(b.name, undefined, { sensitivity: 'base' })
	);
}
