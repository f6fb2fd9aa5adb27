/**
 * Every letter on its way, in whichever conversation. It is kept from Send until the server has
 * taken it; one that finds no server waits, and goes out by itself. It knows nothing of what is
 * on the screen: whoever shows a conversation is told what becomes of its letters.
 */
import { failureOf, type Api } from '$/api/client';
import type { Failure } from '$/api/wire';
import { bodyOf, type Letter } from '$/state/letter';
import type { Outbox } from '$/state/outbox';
import { backOff, type Pause } from '$/api/pause';
import { Turn } from '$/turn/turn.svelte';

/**
 * `taken`: its turn has begun, now or when it was sent before. `waiting`: there is no server to be
 * found. `returned`: the server will not have it, or its writer thought better of it.
 */
export type Fate =
	{ kind: 'taken' } | { kind: 'waiting' } | { kind: 'returned'; failure: Failure | null };

export class Delivery {
	waiting = $state.raw<Letter[]>([]);

	/** Whether a letter that waits may go out now, as far as the screen is concerned. */
	isDue: (letter: Letter) => boolean = () => true;
	/** Whether a letter that waits has been taken after all, and only the answer to it was lost. */
	isSaid: (letter: Letter) => boolean = () => false;
	/** Called when a letter that has waited sets out. */
	onposted: (letter: Letter, turn: Turn) => void = () => undefined;
	/** Called when the fate of a letter is known. True if somebody looks at its turn. */
	onsettled: (letter: Letter, fate: Fate) => boolean = () => false;

	#api: Api;
	#outbox: Outbox;
	#pause: Pause;
	#left = new AbortController();
	/** The letters this tab carries, or stands in line to; and the turn, while one is being posted. */
	#carried = new Map<string, Turn | null>();

	constructor(api: Api, outbox: Outbox, pause: Pause = backOff) {
		this.#api = api;
		this.#outbox = outbox;
		this.#pause = pause;
	}

	/** Goes on with what was on its way when the page was left. */
	begin(): void {
		this.#outbox.watch(() => this.#look(), this.#left.signal);
		for (const { id } of this.#outbox.letters) void this.#carry(id, null);
	}

	/** Brings a letter to the server, by a turn that may be looked at. Ends when it is settled. */
	async send(letter: Letter, turn: Turn): Promise<void> {
		this.#outbox.keep(letter);
		await this.#carry(letter.id, turn);
	}

	/** The letter that waits in a conversation; with null, one that will begin one. */
	waitingIn(conversationId: string | null): Letter | null {
		const isHere = (letter: Letter) => letter.conversationId === conversationId;
		return this.waiting.find((letter) => isHere(letter) && !this.isSaid(letter)) ?? null;
	}

	/** What is being posted to a conversation just now. */
	postedTo(conversationId: string): { letter: Letter; turn: Turn } | null {
		for (const [id, turn] of this.#carried) {
			const letter = this.#outbox.find(id);
			if (turn !== null && letter?.conversationId === conversationId) return { letter, turn };
		}
		return null;
	}

	/** Null if it no longer waits: then it is too late. */
	takeBack(id: string): Letter | null {
		const letter = this.#outbox.find(id);
		if (!letter?.isWaiting || this.isSaid(letter)) return null;
		this.#drop(id);
		return letter;
	}

	/** What has not arrived stays in the outbox, for whoever comes next. */
	leave(): void {
		this.#left.abort();
		for (const turn of this.#carried.values()) turn?.abandon();
	}

	/** One tab at a time carries a letter; where it fails to, the next in line goes on. */
	async #carry(id: string, turn: Turn | null): Promise<void> {
		if (this.#carried.has(id)) return;
		this.#carried.set(id, turn);
		try {
			await alone(id, this.#left.signal, () => this.#deliver(id, turn));
		} finally {
			this.#carried.delete(id);
		}
	}

	async #deliver(id: string, first: Turn | null): Promise<void> {
		const written = this.#find(id);
		if (written !== null && first !== null && (await this.#post(written, first))) return;
		this.#mark(id, true);
		for (let tries = 0; this.#find(id) !== null; tries++) {
			await this.#pause(tries, this.#left.signal);
			if (this.#find(id) === null || !(await this.#isServerThere())) continue;
			const letter = this.#find(id);
			if (letter !== null && this.isSaid(letter)) return this.#drop(id);
			if (letter === null || !this.isDue(letter)) continue;
			const turn = new Turn(this.#api, { body: bodyOf(letter) });
			this.#mark(id, false);
			this.onposted(letter, turn);
			if (await this.#post(letter, turn)) return;
		}
	}

	/** False if the letter has to wait. */
	async #post(letter: Letter, turn: Turn): Promise<boolean> {
		const { id } = letter;
		this.#carried.set(id, turn);
		void turn.run();
		const fate = fateOf(await turn.taken, turn.failure);
		this.#carried.set(id, null);
		if (this.#left.signal.aborted) return true;
		if (fate.kind === 'waiting') this.#mark(id, true);
		else this.#outbox.drop(id);
		if (!this.onsettled(letter, fate)) turn.leave();
		return fate.kind !== 'waiting';
	}

	async #isServerThere(): Promise<boolean> {
		try {
			await this.#api.status();
			return true;
		} catch (error) {
			return failureOf(error).code !== 'unreachable';
		}
	}

	#drop(id: string): void {
		this.#outbox.drop(id);
		this.#look();
	}

	#mark(id: string, isWaiting: boolean): void {
		const letter = this.#find(id);
		if (letter !== null) this.#outbox.keep({ ...letter, isWaiting });
		this.#look();
	}

	/** Null when it was taken back, or arrived from another tab, or is no business of ours any more. */
	#find(id: string): Letter | null {
		return this.#left.signal.aborted ? null : this.#outbox.find(id);
	}

	#look(): void {
		if (this.#left.signal.aborted) return;
		this.waiting = this.#outbox.letters.filter(({ isWaiting }) => isWaiting);
		for (const { id } of this.waiting) void this.#carry(id, null);
	}
}

function fateOf(isTaken: boolean, failure: Failure | null): Fate {
	if (isTaken) return { kind: 'taken' };
	return failure?.code === 'unreachable' ? { kind: 'waiting' } : { kind: 'returned', failure };
}

/** Browsers have locks only where the connection is safe. Without one the server takes two copies for one. */
async function alone(id: string, left: AbortSignal, what: () => Promise<void>): Promise<void> {
	if (!('locks' in navigator)) return what();
	try {
		await navigator.locks.request(`hitsend.letter.${id}`, { signal: left }, what);
	} catch (error) {
		if (!left.aborted) throw error;
	}
}
