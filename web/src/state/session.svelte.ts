/** Who is signed in here, and how to become that. */
import { ApiError, Unreachable, type Api } from '$/api/client';
import type { Me } from '$/api/wire';

export class Session {
	user = $state.raw<Me['user'] | null>(null);
	state = $state<'asking' | 'unreachable' | 'empty' | 'known'>('asking');

	#api: Api;

	constructor(api: Api) {
		this.#api = api;
		api.onsignedout = () => (this.user = null);
	}

	/** Finds out whether somebody is signed in, and whether there is anybody at all. */
	async begin(): Promise<void> {
		this.state = 'asking';
		try {
			this.user = await this.#api.me();
			const isEmpty = this.user === null && (await this.#api.needsFirstAccount());
			this.state = isEmpty ? 'empty' : 'known';
		} catch (error) {
			if (!(error instanceof Unreachable || error instanceof ApiError)) throw error;
			this.state = 'unreachable';
		}
	}

	createFirstAccount = (name: string, password: string) =>
		this.#become(this.#api.createFirstAccount(name, password));

	signIn = (name: string, password: string) => this.#become(this.#api.signIn(name, password));

	signUp = (invite: string, name: string, password: string) =>
		this.#become(this.#api.signUp(invite, name, password));

	async signOut(): Promise<void> {
		await this.#api.signOut();
		this.user = null;
	}

	async #become(entering: Promise<Me['user']>): Promise<void> {
		this.user = await entering;
		this.state = 'known';
	}
}
