/** The limits that are set, and how one is set or taken back. */
import type { Api } from '$/api/client';
import type { Group, Limit, Limits, LimitScope } from '$/api/spending';
import type { PersonLine } from '$/api/wire';
import { Fetched } from '$/state/fetched.svelte';

export const NAMES = ['requests_per_minute', 'tokens_per_minute', 'tokens_per_day'] as const;

const NO_LIMIT: Limit = {
	requests_per_minute: null,
	tokens_per_minute: null,
	tokens_per_day: null
};

/** What may be limited, and what is. */
interface Known extends Limits {
	groups: Group[];
	people: PersonLine[];
}

export class Setting {
	readonly known: Fetched<Known>;

	#api: Api;

	constructor(api: Api) {
		this.#api = api;
		this.known = new Fetched(() => ask(api));
	}

	of(scope: LimitScope, target = ''): Limit | null {
		const isIt = (item: Limits['items'][number]) => item.scope === scope && item.target === target;
		return this.known.value?.items.find(isIt) ?? null;
	}

	async set(scope: LimitScope, target: string, limit: Partial<Limit>): Promise<void> {
		const isEmpty = Object.values(limit).every((value) => value === null);
		if (isEmpty && !mayBeEmpty(scope)) return this.#unset(scope, target);
		await this.#api.setLimit(scope, target, { ...NO_LIMIT, ...limit });
		await this.known.load();
	}

	async remove(scope: LimitScope, target: string): Promise<void> {
		await this.#api.removeLimit(scope, target);
		await this.known.load();
	}

	async #unset(scope: LimitScope, target: string): Promise<void> {
		if (this.of(scope, target) !== null) await this.remove(scope, target);
	}
}

/** To have no limit is something else than what everyone has. For the others it is the same. */
function mayBeEmpty(scope: LimitScope): boolean {
	return scope === 'user' || scope === 'group';
}

async function ask(api: Api): Promise<Known> {
	const [limits, groups, people] = await Promise.all([api.limits(), api.groups(), api.people()]);
	return { ...limits, groups, people };
}
