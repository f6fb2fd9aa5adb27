/** The address bar: `/` a new chat, `/c/<id>` a conversation, `/invite/<token>` a sign-up. */

export class Router {
	path = $state(location.pathname);

	conversationId = $derived(/^\/c\/([\w-]+)$/.exec(this.path)?.[1] ?? null);
	invite = $derived(/^\/invite\/([\w-]+)$/.exec(this.path)?.[1] ?? null);

	constructor() {
		addEventListener('popstate', () => (this.path = location.pathname));
	}

	go(path: string): void {
		if (path !== this.path) history.pushState(null, '', path);
		this.path = path;
	}

	/** The same place under a new name: nothing to go back to. */
	rename(path: string): void {
		history.replaceState(null, '', path);
		this.path = path;
	}
}
