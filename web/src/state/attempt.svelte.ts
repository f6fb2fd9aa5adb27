/** Something that may fail and can be tried again: whether it is under way, and what went wrong. */
import { failureOf } from '$/api/client';
import type { Failure } from '$/api/wire';

export class Attempt {
	isBusy = $state(false);
	problem = $state.raw<Failure | null>(null);

	/** Whether it went well. A second call while the first is under way does nothing. */
	async make(what: () => Promise<unknown>): Promise<boolean> {
		if (this.isBusy) return false;
		this.isBusy = true;
		this.problem = null;
		try {
			await what();
			return true;
		} catch (error) {
			this.problem = failureOf(error);
			return false;
		} finally {
			this.isBusy = false;
		}
	}
}
