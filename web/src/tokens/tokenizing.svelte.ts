/**
 * A text that is being typed, in the tokens of one model. Asks when the typing pauses; an answer
 * to an older text never takes the place of a newer one's. What was there stays until then.
 */
import { failureOf, type Api } from '$/api/client';
import type { Failure, Tokenized } from '$/api/wire';

const PAUSE_MS = 150;

export class Tokenizing {
	tokenized = $state.raw<Tokenized | null>(null);
	problem = $state.raw<Failure | null>(null);
	isBusy = $state(false);

	#api: Pick<Api, 'tokenize'>;
	#pauseMs: number;
	#asking = new AbortController();
	#pause: ReturnType<typeof setTimeout> | undefined;

	constructor(api: Pick<Api, 'tokenize'>, pauseMs = PAUSE_MS) {
		this.#api = api;
		this.#pauseMs = pauseMs;
	}

	show(model: string, text: string): void {
		this.leave();
		this.isBusy = true;
		this.#pause = setTimeout(() => void this.#ask(model, text), this.#pauseMs);
	}

	/** Nobody waits for what was asked. */
	leave(): void {
		clearTimeout(this.#pause);
		this.#asking.abort();
		this.isBusy = false;
	}

	async #ask(model: string, text: string): Promise<void> {
		const { signal } = (this.#asking = new AbortController());
		try {
			const tokenized = await this.#api.tokenize({ model, text }, signal);
			if (signal.aborted) return;
			this.tokenized = tokenized;
			this.problem = null;
		} catch (error) {
			if (signal.aborted) return;
			this.problem = failureOf(error);
			this.tokenized = null;
		}
		this.isBusy = false;
	}
}
