/** The rate limits administrators have set: reads, sets and removes them. */
import type { Api } from '$/api/client';
import type { Group, Limit, LimitList, LimitScope, Person } from '$/api/wire';
import { Resource } from '$/state/operation.svelte';

export const LIMIT_NAMES = [
	'requests_per_minute',
	'tokens_per_minute',
	'tokens_per_day',
	'storage_mb'
] as const;

const NO_LIMIT: Limit = {
	requests_per_minute: null,
	tokens_per_minute: null,
	tokens_per_day: null,
	storage_mb: null
};

/** The limits, and everything that can have one. */
interface LimitData extends LimitList {
	groups: Group[];
	people: Person[];
}

export class LimitSettings {
	readonly fetched: Resource<LimitData>;

	#api: Api;

	constructor(api: Api) {
		this.#api = api;
		this.fetched = new Resource(() => fetchLimits(api));
	}

	get(scope: LimitScope, target = ''): Limit | null {
		const matches = (item: LimitList['items'][number]) =>
			item.scope === scope && item.target === target;
		return this.fetched.value?.items.find(matches) ?? null;
	}

	async set(scope: LimitScope, target: string, limit: Partial<Limit>): Promise<void> {
		const isEmpty = Object.values(limit).every((value) => value === null);
		if (isEmpty && !canBeExempt(scope)) return this.#removeIfSet(scope, target);
		await this.#api.setLimit(scope, target, { ...NO_LIMIT, ...limit });
		await this.fetched.load();
	}

	async remove(scope: LimitScope, target: string): Promise<void> {
		await this.#api.removeLimit(scope, target);
		await this.fetched.load();
	}

	async #removeIfSet(scope: LimitScope, target: string): Promise<void> {
		if (this.get(scope, target) !== null) await this.remove(scope, target);
	}
}

/** People and groups can be exempt from everyone's limit; elsewhere an empty limit means none is set. */
function canBeExempt(scope: LimitScope): boolean {
	return scope === 'user' || scope === 'group';
}

async function fetchLimits(api: Api): Promise<LimitData> {
	const [limits, groups, people] = await Promise.all([
		api.listLimits(),
		api.listGroups(),
		api.listPeople()
	]);
	return { ...limits, groups, people };
}
