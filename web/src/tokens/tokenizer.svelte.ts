/**
 * Tokenizes a text for one model, debounced. A late response never replaces that of a newer text; the
 * old tokens stay until the new ones arrive.
 */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Failure, Tokenized } from '$/api/wire';

const DEBOUNCE_MS = 150;

export class Tokenizer {
	tokenized = $state.raw<Tokenized | null>(null);
	problem = $state.raw<Failure | null>(null);
	isBusy = $state(false);

	#api: Pick<Api, 'tokenize'>;
	#debounceMs: number;
	#pending = new AbortController();
	#debounce: ReturnType<typeof setTimeout> | undefined;

	constructor(api: Pick<Api, 'tokenize'>, debounceMs = DEBOUNCE_MS) {
		this.#api = api;
		this.#debounceMs = debounceMs;
	}

	request(model: string, text: string): void {
		this.stop();
		this.isBusy = true;
		this.#debounce = setTimeout(() => void this.#fetch(model, text), this.#debounceMs);
	}

	stop(): void {
		clearTimeout(this.#debounce);
		this.#pending.abort();
		this.isBusy = false;
	}

	async #fetch(model: string, text: string): Promise<void> {
		const { signal } = (this.#pending = new AbortController());
		try {
			const tokenized = await this.#api.tokenize({ model, text }, signal);
			if (signal.aborted) return;
			this.tokenized = tokenized;
			this.problem = null;
		} catch (error) {
			if (signal.aborted) return;
			this.problem = toFailure(error);
			this.tokenized = null;
		}
		this.isBusy = false;
	}
}
