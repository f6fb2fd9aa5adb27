/** Short sentences about what just happened, some with a way to take it back. */
export interface Notice {
	id: number;
	text: string;
	kind: 'plain' | 'problem';
	action?: { label: string; run: () => void };
}

const SHOWN_MS = 6_000;
const UNDOABLE_MS = 10_000;

export class Notices {
	items = $state.raw<Notice[]>([]);

	#next = 1;

	/** Shows it for a while. */
	tell(text: string, action?: Notice['action']): void {
		this.#show({ text, kind: 'plain', ...(action === undefined ? {} : { action }) });
	}

	warn(text: string): void {
		this.#show({ text, kind: 'problem' });
	}

	dismiss(id: number): void {
		this.items = this.items.filter((notice) => notice.id !== id);
	}

	#show(notice: Omit<Notice, 'id'>): void {
		const id = this.#next++;
		this.items = [...this.items, { id, ...notice }].slice(-3);
		setTimeout(() => this.dismiss(id), notice.action === undefined ? SHOWN_MS : UNDOABLE_MS);
	}
}
