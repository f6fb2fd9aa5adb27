/**
 * The address bar: `/` a new chat, `/c/<id>` a conversation, `/invite/<token>` a sign-up,
 * `/share/<id>` a shared conversation, `/tokens` the tokenizer, `/oauth/callback` the
 * end of a sign-in at a tool server. The hash opens the settings
 * (`#settings/<section>`), scrolls to a message (`#message/<id>`) or resets a password (`#reset=…`).
 */
export class Router {
	path = $state(location.pathname);
	hash = $state(location.hash);
	/** Counts navigations to the current address, which start a new chat over. */
	numReturns = $state(0);

	conversationId = $derived(/^\/c\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	invite = $derived(/^\/invite\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	shareId = $derived(/^\/share\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	isAtTokens = $derived(this.path === '/tokens');
	/** The sign-in of a tool server sends people back here. */
	isAtServerSignIn = $derived(this.path === '/oauth/callback');
	/** The open section of the settings, or null. */
	section = $derived(/^#settings\/([\w-]+)$/.exec(this.hash)?.[1] ?? null);
	/** Of a link that resets a password. In the hash, which browsers send to no server. */
	resetToken = $derived(/^#reset=([\w-]+)$/.exec(this.hash)?.[1] ?? null);
	/** Of the link that makes the first account. */
	setupToken = $derived(/^#setup=([\w-]+)$/.exec(this.hash)?.[1] ?? null);
	messageId = $derived(/^#message\/([\w-]+)$/.exec(this.hash)?.[1] ?? null);

	constructor() {
		const read = () => this.#readLocation();
		addEventListener('popstate', read);
		addEventListener('hashchange', read);
	}

	/** Adds a history entry. `to` may have a hash. */
	go(to: string): void {
		if (to !== this.path + this.hash) history.pushState(null, '', to);
		if (to === this.path) this.numReturns += 1;
		this.#readLocation();
	}

	/** Replaces the history entry. */
	replace(to: string): void {
		history.replaceState(null, '', to);
		this.#readLocation();
	}

	openSettings(section = 'account'): void {
		const isOpen = this.section !== null;
		const to = `${this.path}#settings/${section}`;
		if (isOpen) this.replace(to);
		else this.go(to);
	}

	closeSettings(): void {
		this.replace(this.path);
	}

	#readLocation(): void {
		this.path = location.pathname;
		this.hash = location.hash;
	}
}
