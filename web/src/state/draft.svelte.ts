/** The draft of one conversation. Writes to storage are debounced, and skipped for temporary chats. */
import { prepend, type Drafts } from '$/state/drafts';

const DEBOUNCE_MS = 300;

export class Draft {
	#text = $state('');
	#drafts: Drafts;
	#conversationId: () => string | null;
	#isStorable: () => boolean;
	/** Where it was stored last: a new conversation gets its id while its draft is written. */
	#storedUnder: string | null;
	/** What this tab stored last. Text that another tab stored since is not overwritten. */
	#storedText: string;
	#timer: ReturnType<typeof setTimeout> | null = null;

	constructor(
		drafts: Drafts,
		conversationId: () => string | null,
		isStorable: () => boolean = () => true
	) {
		this.#drafts = drafts;
		this.#conversationId = conversationId;
		this.#isStorable = isStorable;
		this.#storedUnder = conversationId();
		this.#storedText = drafts.get(this.#storedUnder);
		this.#text = this.#storedText;
	}

	get text(): string {
		return this.#text;
	}
	set text(text: string) {
		this.#text = text;
		if (text === '') this.flush();
		else this.#timer ??= setTimeout(() => this.flush(), DEBOUNCE_MS);
	}

	/** Puts back the text of a refused message, before what was written since. */
	restore(text: string): void {
		this.text = prepend(text, this.#text);
	}

	flush(): void {
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#timer = null;
		const [id, lastId] = [this.#conversationId(), this.#storedUnder];
		const hasMoved = id !== lastId;
		const text = this.#isStorable() ? this.#text : '';
		if (hasMoved && this.#drafts.get(lastId) === this.#storedText) this.#drafts.set(lastId, '');
		if (text !== this.#storedText || (hasMoved && text !== '')) this.#drafts.set(id, text);
		this.#storedUnder = id;
		this.#storedText = text;
	}
}
