/**
 * What the palette finds as one types. What is here already is shown at once and stays first;
 * what the server finds comes below it, so nothing moves away under the hand.
 */
import type { ConversationSummary } from '$/api/wire';
import { findActions, hasWords } from '$/palette/find';
import { isAvailable, type Action } from '$/state/action';
import type { Desk } from '$/state/desk.svelte';
import { Shelf } from '$/state/shelf.svelte';
import type { Words } from '$/words/words';

/** One line of the list: what it shows, what will happen, and that it happens. */
export type Choice = { key: string; what: string; run: () => void } & (
	{ action: Action } | { item: ConversationSummary; title: string }
);

const PAUSE_MS = 120;
const NUM_KNOWN = 6;

export class Finder {
	query = $state('');
	readonly found: Shelf;

	#selected = $state(0);
	#isTyping = $state(false);
	#typing: ReturnType<typeof setTimeout> | undefined;
	#desk: Pick<Desk, 'api' | 'conversations'>;
	#actions: readonly Action[];
	#go: (path: string) => void;
	#t: Words['palette'];

	isAsked = $derived(this.query.trim() !== '');
	isSearching = $derived.by(() => this.isAsked && (this.#isTyping || this.found.isLoading));

	constructor(
		desk: Pick<Desk, 'api' | 'conversations'>,
		actions: readonly Action[],
		go: (path: string) => void,
		t: Words['palette']
	) {
		this.#desk = desk;
		// To open the palette is nothing to find in it.
		this.#actions = actions.filter((action) => isAvailable(action) && action.id !== 'palette');
		this.#go = go;
		this.#t = t;
		this.found = new Shelf(desk.api, () => ({ q: this.query.trim(), limit: 20 }));
	}

	#known = $derived.by(() => {
		const { pinned, recent } = this.#desk.conversations;
		const fitting = [recent, pinned].flatMap(({ items }) => this.#firstOf(items));
		return fitting.toSorted((a, b) => b.update_time - a.update_time).slice(0, NUM_KNOWN);
	});

	/** While somebody types, what was found for fewer letters stays as far as it still fits. */
	#others = $derived.by(() => {
		const known = new Set(this.#known.map(({ id }) => id));
		return this.found.items.filter(
			({ id, title, snippet }) =>
				!known.has(id) && (!this.#isTyping || hasWords(`${title} ${snippet ?? ''}`, this.query))
		);
	});

	groups = $derived.by(() => {
		const { actions, conversations, recent } = this.#t;
		const does = findActions(this.#actions, this.query).map((action) => this.#doing(action));
		const items = this.isAsked ? [...this.#known, ...this.#others] : this.#known;
		const acting = { name: actions, choices: does };
		const opening = {
			name: this.isAsked ? conversations : recent,
			choices: items.map((item) => this.#opening(item))
		};
		const all = this.isAsked ? [acting, opening] : [opening, acting];
		return all.filter(({ choices }) => choices.length > 0);
	});
	choices = $derived(this.groups.flatMap(({ choices }) => choices));
	chosen = $derived.by(() => this.choices[Math.min(this.#selected, this.choices.length - 1)]);

	/** The query has changed: asks the server when the typing pauses. */
	search(): void {
		this.#selected = 0;
		clearTimeout(this.#typing);
		this.#isTyping = this.isAsked;
		if (this.isAsked) this.#typing = setTimeout(() => void this.#ask(), PAUSE_MS);
		else this.found.clear();
	}

	/** Down or up, and around at the ends. */
	move(step: 1 | -1): void {
		const { length } = this.choices;
		if (length === 0) return;
		this.#selected = (Math.min(this.#selected, length - 1) + step + length) % length;
	}

	select(choice: Choice): void {
		this.#selected = this.choices.indexOf(choice);
	}

	leave(): void {
		clearTimeout(this.#typing);
	}

	async #ask(): Promise<void> {
		const asked = this.query;
		await this.found.load();
		if (asked === this.query) this.#isTyping = false;
	}

	#firstOf(items: ConversationSummary[]): ConversationSummary[] {
		const fits = this.isAsked ? items.filter(({ title }) => hasWords(title, this.query)) : items;
		return fits.slice(0, NUM_KNOWN);
	}

	#doing(action: Action): Choice {
		return { key: action.id, what: this.#t.willRun(action.label), run: action.run, action };
	}

	#opening(item: ConversationSummary): Choice {
		const { untitled, willJump, willOpen } = this.#t;
		const title = item.title === '' ? untitled : item.title;
		const path = item.message_id ? `/c/${item.id}#message/${item.message_id}` : `/c/${item.id}`;
		const what = (item.message_id ? willJump : willOpen)(title);
		return { key: item.id, what, run: () => this.#go(path), item, title };
	}
}
