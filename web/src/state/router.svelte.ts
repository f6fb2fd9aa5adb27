/**
 * The address bar: `/` a new chat, `/c/<id>` a conversation, `/invite/<token>` a sign-up,
 * `/share/<id>` what somebody shared, `/tokens` the tokenizer. What lies over it stands behind the
 * `#`: `#settings/<section>`,
 * and `#message/<id>` for the place to look at.
 */
export class Router {
	path = $state(location.pathname);
	hash = $state(location.hash);
	/** How often somebody has asked for the place they were at: whoever is there may begin anew. */
	numReturns = $state(0);

	conversationId = $derived(/^\/c\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	invite = $derived(/^\/invite\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	shareId = $derived(/^\/share\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	isAtTokens = $derived(this.path === '/tokens');
	/** The section of the settings that is open, if they are. */
	section = $derived(/^#settings\/([\w-]+)$/.exec(this.hash)?.[1] ?? null);
	messageId = $derived(/^#message\/([\w-]+)$/.exec(this.hash)?.[1] ?? null);

	constructor() {
		const look = () => this.#look();
		addEventListener('popstate', look);
		addEventListener('hashchange', look);
	}

	/** To another place; `to` may have a hash. */
	go(to: string): void {
		if (to !== this.path + this.hash) history.pushState(null, '', to);
		if (to === this.path) this.numReturns += 1;
		this.#look();
	}

	/** The same place under a new name: nothing to go back to. */
	rename(to: string): void {
		history.replaceState(null, '', to);
		this.#look();
	}

	openSettings(section = 'account'): void {
		const isOpen = this.section !== null;
		const to = `${this.path}#settings/${section}`;
		if (isOpen) this.rename(to);
		else this.go(to);
	}

	/** Takes away what lies over the page. */
	closeOver(): void {
		this.rename(this.path);
	}

	#look(): void {
		this.path = location.pathname;
		this.hash = location.hash;
	}
}
