/** The folders of a person: their names, which of them stand open, and what is in those. */
import { failureOf, type Api } from '$/api/client';
import type { Failure, Folder } from '$/api/wire';
import { Shelf } from '$/state/shelf.svelte';

const KEY = 'hitsend.open-folders';

export class Folders {
	items = $state.raw<Folder[]>([]);
	problem = $state.raw<Failure | null>(null);

	#open = $state.raw<ReadonlySet<string>>(new Set());
	#shelves = new Map<string, Shelf>();
	#api: Api;
	#storage: Storage | null;

	constructor(api: Api, storage: Storage | null) {
		this.#api = api;
		this.#storage = storage;
		this.#open = read(storage);
	}

	/** The names, and what is in the folders that stand open. */
	load = async () => {
		try {
			this.items = await this.#api.folders();
			this.problem = null;
		} catch (error) {
			this.problem = failureOf(error);
			return;
		}
		await Promise.all(
			this.items.filter(({ id }) => this.isOpen(id)).map(({ id }) => this.#fill(id))
		);
	};

	find = (id: string | null) => this.items.find((folder) => folder.id === id);

	isOpen = (id: string) => this.#open.has(id);

	async toggle(id: string, isOpen = !this.isOpen(id)): Promise<void> {
		const open = new Set(this.#open);
		if (isOpen) open.add(id);
		else open.delete(id);
		this.#open = open;
		this.#remember();
		if (isOpen) await this.#fill(id);
	}

	/** What is in a folder. It is fetched when the folder is opened. */
	shelf(id: string): Shelf {
		const known = this.#shelves.get(id);
		if (known !== undefined) return known;
		const made = new Shelf(this.#api, () => ({ folder_id: id, is_pinned: false }));
		this.#shelves.set(id, made);
		return made;
	}

	get shelves(): Shelf[] {
		return [...this.#shelves.values()];
	}

	async create(name: string): Promise<Folder> {
		const folder = await this.#api.createFolder(name);
		this.items = byName([...this.items, folder]);
		return folder;
	}

	async rename(id: string, name: string): Promise<void> {
		await this.#api.renameFolder(id, name);
		this.items = byName(
			this.items.map((folder) => (folder.id === id ? { ...folder, name } : folder))
		);
	}

	/** What was in it stays, in no folder. */
	async remove(id: string): Promise<void> {
		await this.#api.deleteFolder(id);
		this.items = this.items.filter((folder) => folder.id !== id);
		this.#shelves.delete(id);
		await this.toggle(id, false);
	}

	#fill = (id: string) => this.shelf(id).refresh();

	#remember(): void {
		try {
			this.#storage?.setItem(KEY, JSON.stringify([...this.#open]));
		} catch (error) {
			// The browser keeps nothing: folders stay as they are while the page is open.
			if (!(error instanceof DOMException)) throw error;
		}
	}
}

function read(storage: Storage | null): ReadonlySet<string> {
	try {
		const found: unknown = JSON.parse(storage?.getItem(KEY) ?? '[]');
		return new Set(Array.isArray(found) ? found.filter((id) => typeof id === 'string') : []);
	} catch {
		return new Set();
	}
}

function byName(folders: Folder[]): Folder[] {
	return folders.toSorted((a, b) =>
		a.name.localeCompare(b.name, undefined, { sensitivity: 'base' })
	);
}
