/** How the engine is and which models it has. Asks often while something is under way. */
import { ApiError, Unreachable, type Api } from '$/api/client';
import type { Download, Model, Status } from '$/api/wire';

const SOON_MS = 2_000;
const LATER_MS = 30_000;

export class Engine {
	status = $state.raw<Status | null>(null);
	/** Whether the server answers at all. */
	isReachable = $state(true);
	models = $state.raw<Model[]>([]);
	/** What the next message asks for. */
	chosen = $state('auto');

	downloads = $derived(this.status?.downloads.filter(isUnfinished) ?? []);
	isSettled = $derived(this.status?.state === 'ready' && this.downloads.length === 0);
	modelTitle = $derived(
		this.models.find(({ name }) => name === this.status?.model)?.title ?? this.status?.model ?? ''
	);

	#api: Api;

	constructor(api: Api) {
		this.#api = api;
	}

	/** Asks again and again. Returns what ends it. */
	watch(): () => void {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let isOver = false;
		const ask = async () => {
			await this.#refresh();
			if (!isOver) timer = setTimeout(() => void ask(), this.isSettled ? LATER_MS : SOON_MS);
		};
		void ask();
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}

	async #refresh(): Promise<void> {
		try {
			const before = this.status;
			this.status = await this.#api.status();
			this.isReachable = true;
			if (before?.model !== this.status.model || before?.state !== this.status.state) {
				this.models = (await this.#api.models()).models;
			}
		} catch (error) {
			if (!(error instanceof Unreachable || error instanceof ApiError)) throw error;
			this.status = null;
			this.isReachable = !(error instanceof Unreachable);
		}
	}
}

function isUnfinished({ num_done_bytes, num_bytes }: Download): boolean {
	return num_done_bytes < num_bytes;
}
