/** Short sentences about what just happened, some with a way to take it back. */
interface Notice {
	id: number;
	text: string;
	kind: 'plain' | 'problem';
	action?: { label: string; run: () => void };
}

const SHOWN_MS = 6_000;
const UNDOABLE_MS = 10_000;

export class Notices {
	items = $state.raw<Notice[]>([]);
	/** The newest that can be taken back. */
	undoable = $derived(this.items.findLast(({ action }) => action !== undefined) ?? null);

	#next = 1;
	#timers = new Map<number, ReturnType<typeof setTimeout>>();
	#isHeld = false;

	/** Shows it for a while. */
	tell(text: string, action?: Notice['action']): void {
		this.#show({ text, kind: 'plain', ...(action === undefined ? {} : { action }) });
	}

	warn(text: string): void {
		this.#show({ text, kind: 'problem' });
	}

	dismiss(id: number): void {
		this.items = this.items.filter((notice) => notice.id !== id);
		clearTimeout(this.#timers.get(id));
		this.#timers.delete(id);
		// Nobody is about what is not there, even if nothing told us that they left it.
		if (this.items.length === 0) this.#isHeld = false;
	}

	/** Does what the newest notice offers. */
	undo(): void {
		const notice = this.undoable;
		if (notice === null) return;
		this.dismiss(notice.id);
		notice.action?.run();
	}

	/** While somebody is about one, all stay; afterwards each has its whole time again. */
	hold(isHeld: boolean): void {
		this.#isHeld = isHeld;
		for (const notice of this.items) this.#time(notice);
	}

	#show(about: Omit<Notice, 'id'>): void {
		const notice = { id: this.#next++, ...about };
		for (const { id } of this.items.slice(0, -2)) this.dismiss(id);
		this.items = [...this.items, notice];
		this.#time(notice);
	}

	#time({ id, action }: Notice): void {
		clearTimeout(this.#timers.get(id));
		if (this.#isHeld) return;
		const ms = action === undefined ? SHOWN_MS : UNDOABLE_MS;
		this.#timers.set(
			id,
			setTimeout(() => this.dismiss(id), ms)
		);
	}
}
