/**
 * The search of the palette. Loaded conversations match at once and stay first; the server's results
 * are added below, so that no option moves while it is chosen.
 */
import type { ConversationSummary } from '$/api/wire';
import { findActions, hasWords } from '$/palette/matchActions';
import { isAvailable, type Action } from '$/state/action';
import { ConversationList } from '$/state/conversationList.svelte';
import type { Workspace } from '$/state/workspace.svelte';
import type { Words } from '$/words/words';

/** One option; `hint` says what choosing it does. */
export type PaletteChoice = { key: string; hint: string; run: () => void } & (
	{ action: Action } | { item: ConversationSummary; title: string }
);

const DEBOUNCE_MS = 120;
const MAX_LOADED = 6;

export class PaletteSearch {
	query = $state('');
	readonly results: ConversationList;

	#selected = $state(0);
	#isTyping = $state(false);
	#debounce: ReturnType<typeof setTimeout> | undefined;
	#workspace: Pick<Workspace, 'api' | 'conversations'>;
	#actions: readonly Action[];
	#go: (path: string) => void;
	#t: Words['palette'];

	hasQuery = $derived(this.query.trim() !== '');
	isSearching = $derived.by(() => this.hasQuery && (this.#isTyping || this.results.isLoading));

	constructor(
		workspace: Pick<Workspace, 'api' | 'conversations'>,
		actions: readonly Action[],
		go: (path: string) => void,
		t: Words['palette']
	) {
		this.#workspace = workspace;
		// The palette does not list itself.
		this.#actions = actions.filter((action) => isAvailable(action) && action.id !== 'palette');
		this.#go = go;
		this.#t = t;
		this.results = new ConversationList(workspace.api, () => ({ q: this.query.trim(), limit: 20 }));
	}

	#loaded = $derived.by(() => {
		const { pinned, recent } = this.#workspace.conversations;
		const matching = [recent, pinned].flatMap(({ items }) => this.#firstMatches(items));
		return matching.toSorted((a, b) => b.update_time - a.update_time).slice(0, MAX_LOADED);
	});

	/** The server's other results. While typing, older results stay if they still match. */
	#others = $derived.by(() => {
		const loadedIds = new Set(this.#loaded.map(({ id }) => id));
		return this.results.items.filter(
			({ id, title, snippet }) =>
				!loadedIds.has(id) && (!this.#isTyping || hasWords(`${title} ${snippet ?? ''}`, this.query))
		);
	});

	groups = $derived.by(() => {
		const { actions, conversations, recent } = this.#t;
		const actionChoices = findActions(this.#actions, this.query).map((action) =>
			this.#actionChoice(action)
		);
		const items = this.hasQuery ? [...this.#loaded, ...this.#others] : this.#loaded;
		const actionGroup = { name: actions, choices: actionChoices };
		const conversationGroup = {
			name: this.hasQuery ? conversations : recent,
			choices: items.map((item) => this.#conversationChoice(item))
		};
		const groups = this.hasQuery
			? [actionGroup, conversationGroup]
			: [conversationGroup, actionGroup];
		return groups.filter(({ choices }) => choices.length > 0);
	});
	choices = $derived(this.groups.flatMap(({ choices }) => choices));
	chosen = $derived.by(() => this.choices[Math.min(this.#selected, this.choices.length - 1)]);

	/** Call after the query changed. Asks the server after a pause in typing. */
	search(): void {
		this.#selected = 0;
		clearTimeout(this.#debounce);
		this.#isTyping = this.hasQuery;
		if (this.hasQuery) this.#debounce = setTimeout(() => void this.#load(), DEBOUNCE_MS);
		else this.results.clear();
	}

	/** Moves the selection, wrapping around at the ends. */
	move(step: 1 | -1): void {
		const { length } = this.choices;
		if (length === 0) return;
		this.#selected = (Math.min(this.#selected, length - 1) + step + length) % length;
	}

	select(choice: PaletteChoice): void {
		this.#selected = this.choices.indexOf(choice);
	}

	stop(): void {
		clearTimeout(this.#debounce);
	}

	async #load(): Promise<void> {
		const query = this.query;
		await this.results.load();
		if (query === this.query) this.#isTyping = false;
	}

	#firstMatches(items: ConversationSummary[]): ConversationSummary[] {
		const matches = this.hasQuery
			? items.filter(({ title }) => hasWords(title, this.query))
			: items;
		return matches.slice(0, MAX_LOADED);
	}

	#actionChoice(action: Action): PaletteChoice {
		return { key: action.id, hint: this.#t.willRun(action.label), run: action.run, action };
	}

	#conversationChoice(item: ConversationSummary): PaletteChoice {
		const { untitled, willJump, willOpen } = this.#t;
		const title = item.title === '' ? untitled : item.title;
		const path = item.message_id ? `/c/${item.id}#message/${item.message_id}` : `/c/${item.id}`;
		const hint = (item.message_id ? willJump : willOpen)(title);
		return { key: item.id, hint, run: () => this.#go(path), item, title };
	}
}
