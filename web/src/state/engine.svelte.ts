/**
 * How the engine is, which models it has and which it could fetch. Asks often while something
 * is under way, rarely otherwise, and not at all while nobody looks.
 */
import { ApiError, Unreachable, type Api } from '$/api/client';
import type { Download, Model, Offer, Status } from '$/api/wire';

const SOON_MS = 1_500;
const LATER_MS = 30_000;
const KEY = 'hitsend.model';
const AUTO = 'auto';

export class Engine {
	status = $state.raw<Status | null>(null);
	/** Whether the server answers at all. While online one lost question is no proof, two are. */
	isReachable = $state(true);
	models = $state.raw<Model[]>([]);
	/** What the server knows how to fetch, whether it is here already or not. */
	offers = $state.raw<Offer[]>([]);

	#chosen = $state(AUTO);

	downloads = $derived(this.status?.downloads.filter(isUnfinished) ?? []);
	isSettled = $derived(this.status?.state === 'ready' && !this.downloads.some(isMoving));
	/** The model the next message will be answered by. */
	inUse = $derived.by(() => {
		const standard = this.models.find(({ name }) => name === this.status?.model);
		return (
			this.models.find(({ name }) => name === this.#chosen) ??
			standard ??
			this.models.find(({ is_default }) => is_default) ??
			null
		);
	});
	modelTitle = $derived(this.inUse?.title ?? this.status?.model ?? '');

	#api: Api;
	#storage: Storage | null;
	/** How the engine was when the models were asked for. */
	#modelsOf: Status | null = null;
	#numLost = 0;
	#numHurried = 0;
	#askNow: () => void = () => undefined;

	constructor(api: Api, storage: Storage | null = null) {
		this.#api = api;
		this.#storage = storage;
		this.#chosen = storage?.getItem(KEY) ?? AUTO;
	}

	/** What the next message asks for: a model's name, or `auto` for whichever is the standard. */
	get chosen(): string {
		return this.#chosen;
	}

	set chosen(name: string) {
		this.#chosen = this.models.some((model) => model.is_default && model.name === name)
			? AUTO
			: name;
		keep(this.#storage, this.#chosen);
	}

	/** Asks again and again. Returns what ends it. */
	watch(): () => void {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let isAsking = false;
		let isOver = false;
		const ask = async () => {
			if (isAsking) return;
			clearTimeout(timer);
			isAsking = true;
			await this.#askStatus();
			isAsking = false;
			if (!isOver && isLookedAt()) timer = setTimeout(() => void ask(), this.#restMs());
		};
		this.#askNow = () => void ask();
		const unlisten = listen(this.#askNow);
		this.#askNow();
		return () => {
			isOver = true;
			this.#askNow = () => undefined;
			clearTimeout(timer);
			unlisten();
		};
	}

	/** Asks often, until what this returns is called: somebody waits for an answer. */
	hurry(): () => void {
		this.#numHurried += 1;
		this.#askNow();
		return () => (this.#numHurried -= 1);
	}

	/** Asks for everything again, now. */
	async refresh(): Promise<void> {
		await this.#attempt(async () => {
			this.status = await this.#api.status();
			await this.#askModels();
		});
	}

	/** Begins to fetch a model; `downloads` tells how far it is. Throws what the server refuses. */
	async pull(name: string): Promise<void> {
		await this.#api.pullModel(name);
		await this.refresh();
		this.#askNow();
	}

	/** Takes a model's weights from the server. Throws what the server refuses. */
	async remove(name: string): Promise<void> {
		await this.#api.removeModel(name);
		await this.refresh();
	}

	async #askStatus(): Promise<void> {
		await this.#attempt(async () => {
			this.status = await this.#api.status();
			if (isAnother(this.#modelsOf, this.status)) await this.#askModels();
		});
	}

	async #askModels(): Promise<void> {
		const { status } = this;
		const { models, offers } = await this.#api.models();
		this.#modelsOf = status;
		this.models = models;
		this.offers = offers;
		if (!models.some(({ name }) => name === this.#chosen)) this.#chosen = AUTO;
	}

	/** A proxy that answers for a server that is gone answers with 5xx. */
	async #attempt(what: () => Promise<void>): Promise<void> {
		try {
			await what();
			this.#numLost = 0;
			this.isReachable = true;
		} catch (error) {
			if (!(error instanceof Unreachable || error instanceof ApiError)) throw error;
			if (error instanceof ApiError && error.status < 500) return;
			this.#numLost += 1;
			this.isReachable = this.#numLost < 2 && navigator.onLine;
		}
	}

	#restMs(): number {
		const isCalm = this.isSettled && this.#numHurried === 0 && this.#numLost === 0;
		return isCalm ? LATER_MS : SOON_MS;
	}
}

function isUnfinished({ num_done_bytes, num_bytes, problem }: Download): boolean {
	return num_done_bytes < num_bytes || problem !== null;
}

function isMoving({ problem }: Download): boolean {
	return problem === null;
}

/** Whether the models may have changed between the two: another one answers, or one has come. */
function isAnother(before: Status | null, now: Status): boolean {
	const names = (status: Status) => status.downloads.filter(isUnfinished).map(({ name }) => name);
	return (
		before === null ||
		before.model !== now.model ||
		before.state !== now.state ||
		names(before).join() !== names(now).join()
	);
}

function isLookedAt(): boolean {
	return document.visibilityState !== 'hidden';
}

/** Somebody who comes back, or whose connection changes, wants to know how things are. */
function listen(ask: () => void): () => void {
	const look = () => {
		if (isLookedAt()) ask();
	};
	addEventListener('online', look);
	addEventListener('offline', look);
	document.addEventListener('visibilitychange', look);
	return () => {
		removeEventListener('online', look);
		removeEventListener('offline', look);
		document.removeEventListener('visibilitychange', look);
	};
}

/** A browser that keeps nothing (private, full) still asks for what was chosen while it is open. */
function keep(storage: Storage | null, chosen: string): void {
	try {
		if (chosen === AUTO) storage?.removeItem(KEY);
		else storage?.setItem(KEY, chosen);
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
	}
}
