/** The number of open reviews, which the sidebar and the settings show to those who may decide them. */
import type { Api } from '$/api/client';
import { SafetyApi } from '$/moderation/safetyApi';
import { Resource } from '$/state/operation.svelte';

const known = new WeakMap<Api, Resource<number>>();

export function countOpenReviews(api: Api): Resource<number> {
	const count = known.get(api) ?? new Resource(new SafetyApi(api).countReviews);
	known.set(api, count);
	return count;
}
