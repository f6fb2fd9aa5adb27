/** Slash commands: the actions whose names start with what follows `/` in the draft. */
import { isAvailable, type Action } from '$/state/action';

export class SlashCommands {
	#active = $state(0);
	/** The draft for which Escape closed the list. Any other draft may open it again. */
	#dismissedDraft = $state<string | null>(null);

	/** Empty unless the draft is a slash and the start of a name. */
	matches = $derived.by(() => {
		const draft = this.#draft();
		return draft === this.#dismissedDraft ? [] : findCommands(draft, this.#actions());
	});
	/** The index Enter chooses. */
	active = $derived(Math.min(this.#active, this.matches.length - 1));

	#draft: () => string;
	#actions: () => Action[];
	#onchoose: (action: Action) => void;

	constructor(draft: () => string, actions: () => Action[], onchoose: (action: Action) => void) {
		this.#draft = draft;
		this.#actions = actions;
		this.#onchoose = onchoose;
	}

	/** Returns whether it handled the key. */
	handleKey(key: string): boolean {
		const { length } = this.matches;
		if (length === 0) return false;
		switch (key) {
			case 'ArrowDown':
				this.#active = (this.active + 1) % length;
				return true;
			case 'ArrowUp':
				this.#active = (this.active + length - 1) % length;
				return true;
			case 'Escape':
				this.#dismissedDraft = this.#draft();
				return true;
			case 'Enter':
			case 'Tab':
				this.choose(this.active);
				return true;
			default:
				return false;
		}
	}

	choose(index: number): void {
		const action = this.matches[index];
		this.reset();
		if (action !== undefined) this.#onchoose(action);
	}

	/** Starts again at the top after the draft changed. */
	reset(): void {
		this.#active = 0;
		this.#dismissedDraft = null;
	}
}

function findCommands(draft: string, actions: Action[]): Action[] {
	// A command is one short word, so a long draft is not searched.
	const name = draft.startsWith('/') ? /^\/(\S{0,80})$/.exec(draft)?.[1]?.toLowerCase() : undefined;
	if (name === undefined) return [];
	return actions.filter(
		(action) =>
			action.slash?.some((one) => one.toLowerCase().startsWith(name)) === true &&
			isAvailable(action)
	);
}
