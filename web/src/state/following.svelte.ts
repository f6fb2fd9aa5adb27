/**
 * The turns that are read in the open conversation, one at a time: those asked for here, and those
 * that were begun elsewhere. What is stored is fetched between them, and never hides the one that
 * is read. Of what a person says it knows only whether they are saying something.
 */
import { failureOf, type Api } from '$/api/client';
import type { Failure } from '$/api/wire';
import type { Stored } from '$/state/stored.svelte';
import { Turn, type Outcome } from '$/turn/turn.svelte';

export class Following {
	turn = $state.raw<Turn | null>(null);
	/** What went wrong with the last thing the person tried. With a new turn, nothing has. */
	problem = $state.raw<Failure | null>(null);
	/** Called when an answer that was read is not the one that is stored. */
	ondiffers: () => void = () => undefined;

	/** Null until the server has given it one, with the first words of the first turn. */
	id = $derived.by(() => this.#stored.id ?? this.turn?.conversationId ?? null);
	title = $derived.by(() => this.turn?.title ?? this.#stored.title);
	isAnswering = $derived.by(() => this.#isSaying() || (this.turn?.isRunning ?? false));
	/** Whether what waits here may go out: what it follows is known, and is over. */
	isAtRest = $derived.by(
		() => !this.isAnswering && !this.#stored.isStale && this.#unstopped === null
	);

	#api: Api;
	#stored: Stored;
	#isSaying: () => boolean;
	#left: AbortSignal;
	/** Something was said elsewhere while we were reading. */
	#hasMissed = false;
	/** The turns that were heard of before we knew which is ours. */
	#heard = new Set<string>();
	/** A turn that was stopped here, and of which the server has yet to be told. */
	#unstopped = $state<string | null>(null);
	/** A turn whose stream cannot be made sense of. */
	#unreadable: string | null = null;

	constructor(api: Api, stored: Stored, isSaying: () => boolean, left: AbortSignal) {
		this.#api = api;
		this.#stored = stored;
		this.#isSaying = isSaying;
		this.#left = left;
	}

	/** Fetches what is stored, and goes on with the turn that is running. */
	async load(): Promise<void> {
		const running = await this.#stored.fetch(() => this.isAnswering);
		if (running === undefined) return;
		if (running !== null && running === this.#unstopped) await this.#stop(running);
		this.#unstopped = null;
		this.#follow(running);
	}

	/** A turn has begun or ended somewhere. Unless it is the one that is read here, that is new. */
	async hearOf(turnId: string): Promise<void> {
		if (this.isAnswering && this.turn?.id == null) this.#heard.add(turnId);
		else if (this.turn?.id !== turnId) await this.catchUp();
	}

	/** Something may have been said elsewhere: it is fetched now, or after what is read here. */
	async catchUp(): Promise<void> {
		if (this.isAnswering) this.#hasMissed = true;
		else await this.load();
	}

	/** Reads a turn to its end. False if there was none, because the server did not take it. */
	async run(turn: Turn): Promise<boolean> {
		this.problem = null;
		if (this.#stored.discard()) this.#hasMissed = true;
		this.#replace(turn);
		const outcome = await turn.run();
		if (outcome === 'left') return true;
		const isSaid = outcome !== 'unsent';
		if (isSaid) this.#keep(turn);
		else this.#replace(null);
		const hasMissed = this.#missed(turn);
		if (isSaid && outcome !== 'whole') void this.#readAgain(turn, outcome);
		else if (hasMissed) void this.load();
		return isSaid;
	}

	/** Goes on with a turn that is running, unless that is being done. */
	#follow(turnId: string | null): void {
		if (turnId === null || this.id === null || this.isAnswering) return;
		if (this.#left.aborted || turnId === this.#unreadable) return;
		void this.run(new Turn(this.#api, { turnId, conversationId: this.id }));
	}

	#keep({ messages }: Turn): void {
		this.#stored.id = this.id;
		this.#stored.grow(messages);
	}

	/** Whether something was said elsewhere meanwhile. Told once. */
	#missed({ id: own }: Turn): boolean {
		const hasMissed = this.#hasMissed || [...this.#heard].some((id) => id !== own);
		this.#hasMissed = false;
		this.#heard.clear();
		return hasMissed;
	}

	/** What was read of a turn is not all there is to know: what is stored counts. */
	async #readAgain(turn: Turn, outcome: Outcome): Promise<void> {
		if (outcome === 'differs') this.ondiffers();
		if (outcome === 'doubtful') this.#unreadable = turn.id;
		if (outcome === 'cut') this.#unstopped = turn.id;
		else this.#replace(null);
		await this.load();
		if (this.turn === turn) this.#replace(null);
	}

	/** The one before may still listen for its title. What it heard after its end is kept, too. */
	#replace(turn: Turn | null): void {
		this.#stored.title = this.title;
		const before = this.turn;
		this.#stored.refresh(before?.messages ?? []);
		this.turn = turn;
		if (before !== turn) before?.leave();
	}

	async #stop(turnId: string): Promise<void> {
		try {
			await this.#api.stop(this.id ?? '', turnId);
		} catch (error) {
			this.problem = failureOf(error);
		}
	}
}
