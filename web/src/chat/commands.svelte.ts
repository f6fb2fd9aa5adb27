/** What `/` at the beginning of a message offers: the actions whose names begin like that. */
import { isAvailable, type Action } from '$/state/action';

export class Commands {
	#active = $state(0);
	/** The draft whose commands were sent away. Any other draft may offer some again. */
	#dismissed = $state<string | null>(null);

	/** None while the draft is anything but a slash and the beginning of a name. */
	found = $derived.by(() => {
		const draft = this.#draft();
		return draft === this.#dismissed ? [] : commandsIn(draft, this.#actions());
	});
	/** Where Enter would choose. */
	active = $derived(Math.min(this.#active, this.found.length - 1));

	#draft: () => string;
	#actions: () => Action[];
	#onchoose: (action: Action) => void;

	constructor(draft: () => string, actions: () => Action[], onchoose: (action: Action) => void) {
		this.#draft = draft;
		this.#actions = actions;
		this.#onchoose = onchoose;
	}

	/** Whether the key was for the commands. */
	take(key: string): boolean {
		const { length } = this.found;
		if (length === 0) return false;
		switch (key) {
			case 'ArrowDown':
				this.#active = (this.active + 1) % length;
				return true;
			case 'ArrowUp':
				this.#active = (this.active + length - 1) % length;
				return true;
			case 'Escape':
				this.#dismissed = this.#draft();
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
		const action = this.found[index];
		this.restart();
		if (action !== undefined) this.#onchoose(action);
	}

	/** Something else is written: begin at the top. */
	restart(): void {
		this.#active = 0;
		this.#dismissed = null;
	}
}

function commandsIn(draft: string, actions: Action[]): Action[] {
	// A long draft is never looked through: a command is one short word.
	const name = draft.startsWith('/') ? /^\/(\S{0,24})$/.exec(draft)?.[1]?.toLowerCase() : undefined;
	if (name === undefined) return [];
	return actions.filter(
		(action) =>
			action.slash?.some((one) => one.toLowerCase().startsWith(name)) === true &&
			isAvailable(action)
	);
}
