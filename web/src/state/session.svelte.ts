/** The session of this browser: signing in, and signing out without leaving data behind. */
import { tick } from 'svelte';
import type { Api } from '$/api/client';
import { ApiError, Unreachable } from '$/api/http';
import type { FirstAccountCheck, Me, SecondFactorProof, SecondStep } from '$/api/wire';

/** After this time without an answer the server counts as unreachable. */
const TIMEOUT_MS = 8_000;
/** Keys that stay after sign-out, because they say nothing about the person. */
const KEPT_KEYS = new Set(['hitsend.preferences', 'hitsend.model']);

export class Session {
	user = $state.raw<Me['user'] | null>(null);
	/** The password was right, and a second factor is asked for. */
	secondStep = $state.raw<SecondStep | null>(null);
	/** The server allows nothing until the person has set up a second factor. */
	needsSecondFactor = $state(false);
	/** Whether the first account has to be made, and how, as the server said last. */
	firstAccount = $state.raw<FirstAccountCheck | null>(null);
	state = $state<'checking' | 'unreachable' | 'no_accounts' | 'ready'>('checking');

	#api: Api;
	#storage: Storage;
	#checking: Promise<void> | null = null;
	/** Signs out all tabs of this browser together. */
	#tabs = new BroadcastChannel('hitsend.left');

	constructor(api: Api, storage: Storage = localStorage) {
		this.#api = api;
		this.#storage = storage;
		api.onsignedout = () => (this.user = null);
		this.#tabs.onmessage = ({ data }) => {
			if (data !== undefined && data === this.user?.id) void this.#clear(this.user);
		};
	}

	/** Finds out whether a person is signed in, and whether there are any accounts. */
	check(): Promise<void> {
		this.#checking ??= this.#check().finally(() => (this.#checking = null));
		return this.#checking;
	}

	async createFirstAccount(name: string, password: string, setupToken: string): Promise<void> {
		this.#enter(await this.#api.createFirstAccount(name, password, setupToken));
	}

	async signIn(name: string, password: string): Promise<void> {
		const answer = await this.#api.signIn(name, password);
		if ('methods' in answer) this.secondStep = answer;
		else this.#enter(answer);
	}

	async finishSignIn(proof: SecondFactorProof): Promise<void> {
		this.#enter(await this.#api.finishSignIn(proof));
	}

	async signUp(invite: string, name: string, password: string): Promise<void> {
		this.#enter(await this.#api.signUp(invite, name, password));
	}

	async rename(name: string): Promise<void> {
		this.user = await this.#api.rename(name);
	}

	/** Returns false if the server could not be told. Then nothing has changed. */
	async signOut(): Promise<boolean> {
		const { user } = this;
		try {
			await this.#api.signOut();
		} catch (error) {
			if (error instanceof Unreachable) return false;
			if (!(error instanceof ApiError)) throw error;
			// 401: the session had ended already.
			if (error.status !== 401) return false;
		}
		this.#tabs.postMessage(user?.id);
		await this.#clear(user);
		return true;
	}

	/** Deletes the account with all its data. After the last one the server has no accounts. */
	async deleteAccount(password: string): Promise<void> {
		const { user } = this;
		await this.#api.deleteAccount(password);
		this.#tabs.postMessage(user?.id);
		await this.#clear(user);
		await this.check();
	}

	async #check(): Promise<void> {
		const timer = setTimeout(() => {
			if (this.state === 'checking') this.state = 'unreachable';
		}, TIMEOUT_MS);
		try {
			this.#show(await this.#api.getMe());
			if (this.user === null) this.firstAccount = await this.#api.checkFirstAccount();
			const hasNoAccounts = this.user === null && this.firstAccount?.needs_first_account;
			this.state = hasNoAccounts ? 'no_accounts' : 'ready';
		} catch (error) {
			if (!(error instanceof Unreachable || error instanceof ApiError)) throw error;
			this.state = 'unreachable';
		} finally {
			clearTimeout(timer);
		}
	}

	#enter(me: Me): void {
		this.#show(me);
		this.secondStep = null;
		this.state = 'ready';
	}

	#show(me: Me | null): void {
		this.needsSecondFactor = me?.needs_second_factor ?? false;
		this.user = me?.user ?? null;
	}

	/** Deletes the person's data from this browser. */
	async #clear(user: Me['user'] | null): Promise<void> {
		this.user = null;
		if (user === null) return;
		// The workspace stores its draft when it closes, which must happen first.
		await tick();
		const keys = Array.from({ length: this.#storage.length }, (_, i) => this.#storage.key(i));
		for (const key of keys) {
			if (key?.startsWith('hitsend.') && !KEPT_KEYS.has(key)) this.#storage.removeItem(key);
		}
	}
}
