/**
 * The letters that are on their way, as the browser keeps them: they outlive a reload and a
 * closed tab, and are forgotten when their writer signs out. All tabs have the same ones.
 */
import type { Letter } from '$/state/letter';

export class Outbox {
	#storage: Storage;
	#prefix: string;
	/** What the browser would not keep (private, or full) lives as long as the page. */
	#unkept = new Map<string, Letter>();

	constructor(storage: Storage, userId: string) {
		this.#storage = storage;
		this.#prefix = `hitsend.letter.${userId}.`;
	}

	get letters(): Letter[] {
		const keys = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i) ?? '');
		const kept = keys.filter((key) => key.startsWith(this.#prefix)).flatMap((key) => this.#at(key));
		return [...kept, ...this.#unkept.values()];
	}

	/** A letter as it is now: another tab may have changed it, or taken it back. */
	find(id: string): Letter | null {
		return this.#at(this.#prefix + id)[0] ?? this.#unkept.get(id) ?? null;
	}

	keep(letter: Letter): void {
		try {
			this.#storage.setItem(this.#prefix + letter.id, JSON.stringify(letter));
		} catch (error) {
			if (!(error instanceof DOMException)) throw error;
			this.#unkept.set(letter.id, letter);
		}
	}

	drop(id: string): void {
		this.#storage.removeItem(this.#prefix + id);
		this.#unkept.delete(id);
	}

	/** Tells when another tab has changed something, until `left`. */
	watch(onchange: () => void, left: AbortSignal): void {
		const look = ({ key }: StorageEvent) => {
			if (key === null || key.startsWith(this.#prefix)) onchange();
		};
		addEventListener('storage', look, { signal: left });
	}

	#at(key: string): Letter[] {
		try {
			const kept = this.#storage.getItem(key);
			return kept === null ? [] : [JSON.parse(kept) as Letter];
		} catch {
			return [];
		}
	}
}
