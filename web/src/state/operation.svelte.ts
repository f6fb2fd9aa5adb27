/** Something that can fail and be tried again, and a value that is fetched that way. */
import { toFailure } from '$/api/http';
import type { Failure } from '$/api/wire';

export class Operation {
	isBusy = $state(false);
	problem = $state.raw<Failure | null>(null);

	/** Returns whether it succeeded. Does nothing while it is busy. */
	async run(action: () => Promise<unknown>): Promise<boolean> {
		if (this.isBusy) return false;
		this.isBusy = true;
		this.problem = null;
		try {
			await action();
			return true;
		} catch (error) {
			this.problem = toFailure(error);
			return false;
		} finally {
			this.isBusy = false;
		}
	}
}

/** Null until the first fetch succeeds. A failed fetch keeps the old value. */
export class Resource<T> {
	value = $state.raw<T | null>(null);
	readonly loading = new Operation();

	#fetch: () => Promise<T>;

	constructor(fetch: () => Promise<T>) {
		this.#fetch = fetch;
	}

	load = async (): Promise<void> => {
		await this.loading.run(async () => (this.value = await this.#fetch()));
	};
}
