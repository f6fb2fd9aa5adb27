/** Something the server knows: null until it has come, and as it was when it cannot be asked again. */
import { Attempt } from '$/state/attempt.svelte';

export class Fetched<T> {
	value = $state.raw<T | null>(null);
	readonly loading = new Attempt();

	#fetch: () => Promise<T>;

	constructor(fetch: () => Promise<T>) {
		this.#fetch = fetch;
	}

	load = async (): Promise<void> => {
		await this.loading.make(async () => (this.value = await this.#fetch()));
	};
}
