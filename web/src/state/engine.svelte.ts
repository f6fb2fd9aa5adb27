/**
 * The engine's status, its models, and the models it can download. Polls fast while something is
 * under way, slowly otherwise, and not at all while the tab is hidden.
 */
import type { Api } from '$/api/client';
import { ApiError, Unreachable } from '$/api/http';
import type { Download, Model, Offer, Status } from '$/api/wire';

const FAST_POLL_MS = 1_500;
const SLOW_POLL_MS = 30_000;
const KEY = 'hitsend.model';
const AUTO = 'auto';

export class Engine {
	status = $state.raw<Status | null>(null);
	/** Whether the server answers. While the browser is online it takes two failures to say no. */
	isReachable = $state(true);
	models = $state.raw<Model[]>([]);
	/** The models that the server can download, including downloaded ones. */
	offers = $state.raw<Offer[]>([]);

	#chosen = $state(AUTO);

	downloads = $derived(this.status?.downloads.filter(isUnfinished) ?? []);
	isSettled = $derived(
		this.status?.state === 'ready' &&
			this.status.store === 'ready' &&
			!this.downloads.some(isMoving)
	);
	/** The model that answers the next message. */
	activeModel = $derived.by(() => {
		const standard = this.models.find(({ name }) => name === this.status?.model);
		return (
			this.models.find(({ name }) => name === this.#chosen) ??
			standard ??
			this.models.find(({ is_default }) => is_default) ??
			null
		);
	});
	modelTitle = $derived(this.activeModel?.title ?? this.status?.model ?? '');

	#api: Api;
	#storage: Storage | null;
	/** The status at the time of the last models request. */
	#statusOfModels: Status | null = null;
	#numFailures = 0;
	#numFastPollers = 0;
	#pollNow: () => void = () => undefined;

	constructor(api: Api, storage: Storage | null = null) {
		this.#api = api;
		this.#storage = storage;
		this.#chosen = storage?.getItem(KEY) ?? AUTO;
	}

	/** A model's name, or `auto` for the default model. */
	get chosen(): string {
		return this.#chosen;
	}

	set chosen(name: string) {
		this.#chosen = this.models.some((model) => model.is_default && model.name === name)
			? AUTO
			: name;
		storeChoice(this.#storage, this.#chosen);
	}

	/** Polls the status until the returned function is called. */
	poll(): () => void {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let isPending = false;
		let isStopped = false;
		const request = async () => {
			if (isPending) return;
			clearTimeout(timer);
			isPending = true;
			await this.#fetchStatus();
			isPending = false;
			if (!isStopped && isVisible()) timer = setTimeout(() => void request(), this.#intervalMs());
		};
		this.#pollNow = () => void request();
		const unlisten = watchReturn(this.#pollNow);
		this.#pollNow();
		return () => {
			isStopped = true;
			this.#pollNow = () => undefined;
			clearTimeout(timer);
			unlisten();
		};
	}

	/** Polls fast until the returned function is called. */
	pollFast(): () => void {
		this.#numFastPollers += 1;
		this.#pollNow();
		return () => (this.#numFastPollers -= 1);
	}

	/** Fetches the status and the models now. */
	async refresh(): Promise<void> {
		await this.#attempt(async () => {
			this.status = await this.#api.getStatus();
			await this.#fetchModels();
		});
	}

	/** Starts the download of a model. Throws if the server refuses. */
	async pull(name: string): Promise<void> {
		await this.#api.pullModel(name);
		await this.refresh();
		this.#pollNow();
	}

	/** Deletes a model's weights. Throws if the server refuses. */
	async remove(name: string): Promise<void> {
		await this.#api.removeModel(name);
		await this.refresh();
	}

	async #fetchStatus(): Promise<void> {
		await this.#attempt(async () => {
			this.status = await this.#api.getStatus();
			if (mayHaveNewModels(this.#statusOfModels, this.status)) await this.#fetchModels();
		});
	}

	async #fetchModels(): Promise<void> {
		const { status } = this;
		const { models, offers } = await this.#api.listModels();
		this.#statusOfModels = status;
		this.models = models;
		this.offers = offers;
		if (!models.some(({ name }) => name === this.#chosen)) this.#chosen = AUTO;
	}

	/** A 5xx may come from a proxy whose server is down. */
	async #attempt(request: () => Promise<void>): Promise<void> {
		try {
			await request();
			this.#numFailures = 0;
			this.isReachable = true;
		} catch (error) {
			if (!(error instanceof Unreachable || error instanceof ApiError)) throw error;
			if (error instanceof ApiError && error.status < 500) return;
			this.#numFailures += 1;
			this.isReachable = this.#numFailures < 2 && navigator.onLine;
		}
	}

	#intervalMs(): number {
		const isCalm = this.isSettled && this.#numFastPollers === 0 && this.#numFailures === 0;
		return isCalm ? SLOW_POLL_MS : FAST_POLL_MS;
	}
}

function isUnfinished({ num_done_bytes, num_bytes, problem }: Download): boolean {
	return num_done_bytes < num_bytes || problem !== null;
}

function isMoving({ problem }: Download): boolean {
	return problem === null;
}

/** Whether the models may have changed: another model answers, or a download has ended. */
function mayHaveNewModels(before: Status | null, now: Status): boolean {
	const names = (status: Status) => status.downloads.filter(isUnfinished).map(({ name }) => name);
	return (
		before === null ||
		before.model !== now.model ||
		before.state !== now.state ||
		names(before).join() !== names(now).join()
	);
}

function isVisible(): boolean {
	return document.visibilityState !== 'hidden';
}

/** Calls back when the tab becomes visible or the connection changes. */
function watchReturn(callback: () => void): () => void {
	const check = () => {
		if (isVisible()) callback();
	};
	addEventListener('online', check);
	addEventListener('offline', check);
	document.addEventListener('visibilitychange', check);
	return () => {
		removeEventListener('online', check);
		removeEventListener('offline', check);
		document.removeEventListener('visibilitychange', check);
	};
}

/** If storage is off or full, the choice lasts as long as the page. */
function storeChoice(storage: Storage | null, chosen: string): void {
	try {
		if (chosen === AUTO) storage?.removeItem(KEY);
		else storage?.setItem(KEY, chosen);
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
	}
}
