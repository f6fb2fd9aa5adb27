/** Runs actions that need the password, and asks for it where it was not given lately. */
import { ApiError } from '$/api/http';

export class ConfirmedActions {
	/** Whether the password is being asked for. */
	isAsking = $state(false);

	#onanswer: (isConfirmed: boolean) => void = () => undefined;

	/** Returns undefined if the person does not give the password. */
	async run<T>(action: () => Promise<T>): Promise<T | undefined> {
		try {
			return await action();
		} catch (error) {
			if (!(error instanceof ApiError) || error.code !== 'password_required') throw error;
		}
		return (await this.#ask()) ? action() : undefined;
	}

	answer(isConfirmed: boolean): void {
		this.isAsking = false;
		this.#onanswer(isConfirmed);
	}

	#ask(): Promise<boolean> {
		this.isAsking = true;
		return new Promise((resolve) => (this.#onanswer = resolve));
	}
}
