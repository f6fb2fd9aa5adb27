/**
 * The servers that texts for a message come from: resources to attach, and prompts to write it with.
 * Each is asked by itself: one that is slow or dead says so on its own line, and delays no other.
 */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { McpPrompt, McpResource, McpSource } from '$/api/wire';
import { Resource } from '$/state/operation.svelte';

type SourcesApi = Pick<Api, 'listToolSources' | 'listServerResources' | 'listServerPrompts'>;

/** What one server offers. */
export interface Offer<T> {
	source: McpSource;
	items: Resource<T[]>;
}

export class Sources {
	all = $state.raw<McpSource[]>([]);
	/** Of the servers that were asked for their prompts. */
	prompts = $state.raw<Offer<McpPrompt>[]>([]);
	hasResources = $derived(this.all.some((source) => source.may_have_resources));

	#api: SourcesApi;

	constructor(api: SourcesApi) {
		this.#api = api;
	}

	/** After a failure those that were known stay. */
	async load(): Promise<void> {
		try {
			this.all = await this.#api.listToolSources();
		} catch (error) {
			toFailure(error);
		}
	}

	/** Asks all servers for their resources. */
	async listResources(): Promise<Offer<McpResource>[]> {
		await this.load();
		const sources = this.all.filter((source) => source.may_have_resources);
		return sources.map((source) => ask(source, () => this.#api.listServerResources(source.id)));
	}

	/** Asks all servers for their prompts. The known ones stay until a server has answered. */
	async loadPrompts(): Promise<void> {
		await this.load();
		const before = this.prompts;
		this.prompts = this.all
			.filter((source) => source.may_have_prompts)
			.map((source) => {
				const known = before.find((offer) => offer.source.id === source.id);
				const items = known?.items ?? new Resource(() => this.#api.listServerPrompts(source.id));
				void items.load();
				return { source, items };
			});
	}
}

function ask<T>(source: McpSource, fetch: () => Promise<T[]>): Offer<T> {
	const items = new Resource(fetch);
	void items.load();
	return { source, items };
}
