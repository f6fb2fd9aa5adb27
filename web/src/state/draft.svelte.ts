/** What is being written in one conversation. Storage hears of it soon, not at every key. */
import type { Drafts } from '$/state/drafts';

const SOON_MS = 300;

export class Draft {
	#text = $state('');
	#drafts: Drafts;
	#home: () => string | null;
	/** Where it was kept last. A new conversation is given its id while somebody writes. */
	#keptAt: string | null;
	#timer: ReturnType<typeof setTimeout> | null = null;

	/** `home` tells the id of the conversation, null before it has one. */
	constructor(drafts: Drafts, home: () => string | null) {
		this.#drafts = drafts;
		this.#home = home;
		this.#keptAt = home();
		this.#text = drafts.of(this.#keptAt);
	}

	get text(): string {
		return this.#text;
	}
	set text(text: string) {
		this.#text = text;
		if (text === '') this.flush();
		else this.#timer ??= setTimeout(() => this.flush(), SOON_MS);
	}

	/** Words that could not be said come back before what was written since. */
	giveBack(text: string): void {
		this.text = this.#text === '' ? text : `${text}\n\n${this.#text}`;
	}

	flush(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		const home = this.#home();
		if (home !== this.#keptAt) this.#drafts.keep(this.#keptAt, '');
		this.#keptAt = home;
		this.#drafts.keep(home, this.#text);
	}
}
