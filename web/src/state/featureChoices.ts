/**
 * Which features are on, by conversation, in localStorage until sign-out. What is chosen in a new
 * conversation is also the default of later ones.
 */
const MAX_CONVERSATIONS = 200;

interface Stored {
	standard: string[];
	/** Those that changed last come last. */
	own: [conversationId: string, features: string[]][];
}

export class FeatureChoices {
	#storage: Storage;
	#key: string;
	#stored: Stored;
	/** Temporary conversations leave nothing in storage. */
	#unstored = new Map<string, string[]>();

	constructor(storage: Storage, userId: string) {
		this.#storage = storage;
		this.#key = `hitsend.features.${userId}`;
		this.#stored = read(storage, this.#key);
	}

	get standard(): string[] {
		return this.#stored.standard;
	}
	set standard(features: string[]) {
		this.#write({ ...this.#stored, standard: features });
	}

	/** Null if nothing was chosen in this conversation. */
	get(conversationId: string): string[] | null {
		const found = this.#stored.own.find(([id]) => id === conversationId);
		return found?.[1] ?? this.#unstored.get(conversationId) ?? null;
	}

	set(conversationId: string, features: string[], isTemporary: boolean): void {
		if (isTemporary) {
			this.#unstored.set(conversationId, features);
			return;
		}
		const others = this.#stored.own.filter(([id]) => id !== conversationId);
		const own = [...others, [conversationId, features] satisfies Stored['own'][number]];
		this.#write({ ...this.#stored, own: own.slice(-MAX_CONVERSATIONS) });
	}

	/** If storage is off or full, choices last as long as the page. */
	#write(stored: Stored): void {
		this.#stored = stored;
		try {
			this.#storage.setItem(this.#key, JSON.stringify(stored));
		} catch (error) {
			if (!(error instanceof DOMException)) throw error;
		}
	}
}

/** Invalid values, also of another version, count as none. */
function read(storage: Storage, key: string): Stored {
	const none: Stored = { standard: [], own: [] };
	try {
		const stored = JSON.parse(storage.getItem(key) ?? 'null') as Partial<Stored> | null;
		const own = Array.isArray(stored?.own) ? stored.own.filter(isOwn) : [];
		return { standard: isNames(stored?.standard) ? stored.standard : [], own };
	} catch {
		return none;
	}
}

function isOwn(entry: unknown): entry is Stored['own'][number] {
	return Array.isArray(entry) && typeof entry[0] === 'string' && isNames(entry[1]);
}

function isNames(value: unknown): value is string[] {
	return Array.isArray(value) && value.every((name) => typeof name === 'string');
}
