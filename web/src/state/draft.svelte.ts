/**
 * What is being written in one conversation. Storage hears of it soon, not at every key, and never
 * where the conversation is to leave nothing behind.
 */
import { before, type Drafts } from '$/state/drafts';

const SOON_MS = 300;

export class Draft {
	#text = $state('');
	#drafts: Drafts;
	#home: () => string | null;
	#isKept: () => boolean;
	/** Where it was kept last. A new conversation is given its id while somebody writes. */
	#keptAt: string | null;
	/** As it was kept last, by this tab. What another has written since is not ours to erase. */
	#kept: string;
	#timer: ReturnType<typeof setTimeout> | null = null;

	/** `home` tells the id of the conversation, null before it has one. */
	constructor(drafts: Drafts, home: () => string | null, isKept: () => boolean = () => true) {
		this.#drafts = drafts;
		this.#home = home;
		this.#isKept = isKept;
		this.#keptAt = home();
		this.#kept = drafts.of(this.#keptAt);
		this.#text = this.#kept;
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
		this.text = before(text, this.#text);
	}

	flush(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		const [home, last] = [this.#home(), this.#keptAt];
		const isMoved = home !== last;
		const text = this.#isKept() ? this.#text : '';
		if (isMoved && this.#drafts.of(last) === this.#kept) this.#drafts.keep(last, '');
		if (text !== this.#kept || (isMoved && text !== '')) this.#drafts.keep(home, text);
		this.#keptAt = home;
		this.#kept = text;
	}
}
