/** Short notices about what just happened, some with an undo action. */
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
	/** The newest notice with an undo action. */
	undoable = $derived(this.items.findLast(({ action }) => action !== undefined) ?? null);

	#next = 1;
	#timers = new Map<number, ReturnType<typeof setTimeout>>();
	#isHeld = false;

	/** Shows the notice for a few seconds. */
	show(text: string, action?: Notice['action']): void {
		this.#add({ text, kind: 'plain', ...(action === undefined ? {} : { action }) });
	}

	warn(text: string): void {
		this.#add({ text, kind: 'problem' });
	}

	dismiss(id: number): void {
		this.items = this.items.filter((notice) => notice.id !== id);
		clearTimeout(this.#timers.get(id));
		this.#timers.delete(id);
		// The pointer may have been over the last notice when it went away.
		if (this.items.length === 0) this.#isHeld = false;
	}

	/** Runs the newest undo action. */
	undo(): void {
		const notice = this.undoable;
		if (notice === null) return;
		this.dismiss(notice.id);
		notice.action?.run();
	}

	/** Keeps all notices while the pointer or focus is on one, and then restarts their timers. */
	hold(isHeld: boolean): void {
		this.#isHeld = isHeld;
		for (const notice of this.items) this.#startTimer(notice);
	}

	#add(about: Omit<Notice, 'id'>): void {
		const notice = { id: this.#next++, ...about };
		for (const { id } of this.items.slice(0, -2)) this.dismiss(id);
		this.items = [...this.items, notice];
		this.#startTimer(notice);
	}

	#startTimer({ id, action }: Notice): void {
		clearTimeout(this.#timers.get(id));
		if (this.#isHeld) return;
		const ms = action === undefined ? SHOWN_MS : UNDOABLE_MS;
		this.#timers.set(
			id,
			setTimeout(() => this.dismiss(id), ms)
		);
	}
}
