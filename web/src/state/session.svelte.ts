/** Who is signed in here, how to become that, and how to stop being it without leaving a trace. */
import { tick } from 'svelte';
import { ApiError, Unreachable, type Api } from '$/api/client';
import type { Me } from '$/api/wire';

/** A server that has said nothing for so long counts as one that cannot be reached. */
const PATIENCE_MS = 8_000;
/** What stays here when somebody leaves: it tells nothing of them. */
const OF_THE_BROWSER = new Set(['hitsend.preferences', 'hitsend.model']);

export class Session {
	user = $state.raw<Me['user'] | null>(null);
	state = $state<'asking' | 'unreachable' | 'empty' | 'known'>('asking');

	#api: Api;
	#storage: Storage;
	#beginning: Promise<void> | null = null;
	/** The other tabs of this browser: who leaves in one of them leaves in all. */
	#tabs = new BroadcastChannel('hitsend.left');

	constructor(api: Api, storage: Storage = localStorage) {
		this.#api = api;
		this.#storage = storage;
		api.onsignedout = () => (this.user = null);
		this.#tabs.onmessage = ({ data }) => {
			if (data !== undefined && data === this.user?.id) void this.#leave(this.user);
		};
	}

	/** Finds out whether somebody is signed in, and whether there is anybody at all. */
	begin(): Promise<void> {
		this.#beginning ??= this.#ask().finally(() => (this.#beginning = null));
		return this.#beginning;
	}

	createFirstAccount = (name: string, password: string) =>
		this.#become(this.#api.createFirstAccount(name, password));

	signIn = (name: string, password: string) => this.#become(this.#api.signIn(name, password));

	signUp = (invite: string, name: string, password: string) =>
		this.#become(this.#api.signUp(invite, name, password));

	async rename(name: string): Promise<void> {
		this.user = await this.#api.rename(name);
	}

	/** False when the server could not be told: then nothing has changed. */
	async signOut(): Promise<boolean> {
		const { user } = this;
		try {
			await this.#api.signOut();
		} catch (error) {
			if (error instanceof Unreachable) return false;
			if (!(error instanceof ApiError)) throw error;
			// Who is out already is out.
			if (error.status !== 401) return false;
		}
		this.#tabs.postMessage(user?.id);
		await this.#leave(user);
		return true;
	}

	/** The account with everything in it. Whoever was the last one leaves an empty house. */
	async deleteAccount(password: string): Promise<void> {
		const { user } = this;
		await this.#api.deleteAccount(password);
		this.#tabs.postMessage(user?.id);
		await this.#leave(user);
		await this.begin();
	}

	async #ask(): Promise<void> {
		const patience = setTimeout(() => {
			if (this.state === 'asking') this.state = 'unreachable';
		}, PATIENCE_MS);
		try {
			this.user = await this.#api.me();
			const isEmpty = this.user === null && (await this.#api.needsFirstAccount());
			this.state = isEmpty ? 'empty' : 'known';
		} catch (error) {
			if (!(error instanceof Unreachable || error instanceof ApiError)) throw error;
			this.state = 'unreachable';
		} finally {
			clearTimeout(patience);
		}
	}

	async #become(entering: Promise<Me['user']>): Promise<void> {
		this.user = await entering;
		this.state = 'known';
	}

	/** Nothing that anybody wrote or opened stays in this browser, only how it likes the page. */
	async #leave(user: Me['user'] | null): Promise<void> {
		this.user = null;
		if (user === null) return;
		// Their desk keeps its draft while it is cleared away; so this comes after it.
		await tick();
		const keys = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i));
		for (const key of keys) {
			if (key?.startsWith('hitsend.') && !OF_THE_BROWSER.has(key)) this.#storage.removeItem(key);
		}
	}
}
