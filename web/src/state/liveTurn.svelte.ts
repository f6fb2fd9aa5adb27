/**
 * The turn that is read in the open conversation: one that was started here, or one that was
 * started elsewhere and is followed. Between turns it refetches the conversation.
 */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Failure } from '$/api/wire';
import type { ServerCopy } from '$/state/serverCopy.svelte';
import { Turn, type Outcome } from '$/turn/turn.svelte';

export class LiveTurn {
	turn = $state.raw<Turn | null>(null);
	/** Why the person's last action failed. A new turn clears it. */
	problem = $state.raw<Failure | null>(null);
	/** Called when the text that was read differs from the text that is stored. */
	onmismatch: () => void = () => undefined;

	/** Null until the first turn has given the conversation its id. */
	id = $derived.by(() => this.#serverCopy.id ?? this.turn?.conversationId ?? null);
	title = $derived.by(() => this.turn?.title ?? this.#serverCopy.title);
	isAnswering = $derived.by(() => this.#isSending() || (this.turn?.isRunning ?? false));
	/** Whether a queued message may be sent: the conversation is up to date and no turn runs. */
	isIdle = $derived.by(
		() => !this.isAnswering && !this.#serverCopy.isStale && this.#unstoppedId === null
	);

	#api: Api;
	#serverCopy: ServerCopy;
	#isSending: () => boolean;
	#signal: AbortSignal;
	/** The conversation has changed elsewhere since the current turn started. */
	#hasMissedChanges = false;
	/** Turns that were reported before the id of our own turn was known. */
	#reportedIds = new Set<string>();
	/** A turn that was stopped in this page; the server has not been told yet. */
	#unstoppedId = $state<string | null>(null);
	/** A turn whose stream cannot be decoded. */
	#unreadableId: string | null = null;

	constructor(api: Api, serverCopy: ServerCopy, isSending: () => boolean, signal: AbortSignal) {
		this.#api = api;
		this.#serverCopy = serverCopy;
		this.#isSending = isSending;
		this.#signal = signal;
	}

	/** Fetches the conversation, and follows its running turn. */
	async load(): Promise<void> {
		const runningId = await this.#serverCopy.fetch(() => this.isAnswering);
		if (runningId === undefined) return;
		if (runningId !== null && runningId === this.#unstoppedId) await this.#stop(runningId);
		this.#unstoppedId = null;
		this.#follow(runningId);
	}

	/** Call when the server reports that a turn has started or ended. */
	async handleTurnNews(turnId: string): Promise<void> {
		if (this.isAnswering && this.turn?.id == null) this.#reportedIds.add(turnId);
		else if (this.turn?.id !== turnId) await this.catchUp();
	}

	/** Refetches the conversation now, or after the current turn. */
	async catchUp(): Promise<void> {
		if (this.isAnswering) this.#hasMissedChanges = true;
		else await this.load();
	}

	/** Reads a turn to its end. Returns false if the server did not accept it. */
	async run(turn: Turn): Promise<boolean> {
		this.problem = null;
		if (this.#serverCopy.cancelFetch()) this.#hasMissedChanges = true;
		this.#replace(turn);
		const outcome = await turn.run();
		if (outcome === 'detached') return true;
		const isAccepted = outcome !== 'unsent';
		if (isAccepted) this.#store(turn);
		else this.#replace(null);
		const hasMissedChanges = this.#takeMissedChanges(turn);
		if (isAccepted && outcome !== 'complete') void this.#refetch(turn, outcome);
		else if (hasMissedChanges) void this.load();
		return isAccepted;
	}

	#follow(turnId: string | null): void {
		if (turnId === null || this.id === null || this.isAnswering) return;
		if (this.#signal.aborted || turnId === this.#unreadableId) return;
		void this.run(new Turn(this.#api, { turnId, conversationId: this.id }));
	}

	#store({ messages }: Turn): void {
		this.#serverCopy.id = this.id;
		this.#serverCopy.add(messages);
	}

	/** Returns whether the conversation has changed elsewhere, and resets that. */
	#takeMissedChanges({ id: ownId }: Turn): boolean {
		const hasMissedChanges =
			this.#hasMissedChanges || [...this.#reportedIds].some((id) => id !== ownId);
		this.#hasMissedChanges = false;
		this.#reportedIds.clear();
		return hasMissedChanges;
	}

	/** The turn was not read completely, so the stored conversation replaces what was read. */
	async #refetch(turn: Turn, outcome: Outcome): Promise<void> {
		if (outcome === 'mismatch') this.onmismatch();
		if (outcome === 'uncertain') this.#unreadableId = turn.id;
		if (outcome === 'stopped_locally') this.#unstoppedId = turn.id;
		else this.#replace(null);
		await this.load();
		if (this.turn === turn) this.#replace(null);
	}

	/** The turn before may have received a title or memory notes after its end: they are kept. */
	#replace(turn: Turn | null): void {
		this.#serverCopy.title = this.title;
		const before = this.turn;
		this.#serverCopy.update(before?.messages ?? []);
		this.turn = turn;
		if (before !== turn) before?.detach();
	}

	async #stop(turnId: string): Promise<void> {
		try {
			await this.#api.stop(this.id ?? '', turnId);
		} catch (error) {
			this.problem = toFailure(error);
		}
	}
}
