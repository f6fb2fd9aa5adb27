/** The features that can be turned on for a message, and those that are on in a conversation. */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Feature } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import { FeatureChoices } from '$/state/featureChoices';

type Place = Pick<Conversation, 'id' | 'isTemporary' | 'path' | 'messagesAt'>;

export class Features {
	/** Null until they are fetched. */
	all = $state.raw<Feature[] | null>(null);

	#api: Pick<Api, 'listFeatures'>;
	#choices: FeatureChoices;
	/** Counts changes of the choices, which are not reactive. */
	#version = $state(0);

	constructor(api: Pick<Api, 'listFeatures'>, storage: Storage, userId: string) {
		this.#api = api;
		this.#choices = new FeatureChoices(storage, userId);
	}

	/** After a failure those that were known stay. */
	async load(): Promise<void> {
		try {
			this.all = await this.#api.listFeatures();
		} catch (error) {
			toFailure(error);
		}
	}

	/**
	 * The names of the features that are on. In a conversation that this browser has not seen, those
	 * whose tools its last answer used, if any.
	 */
	chosenIn(place: Place): string[] {
		void this.#version;
		const { standard } = this.#choices;
		if (place.id === null) return this.#existing(standard);
		const own = this.#choices.get(place.id);
		if (own !== null) return this.#existing(own);
		const used = this.#usedIn(place);
		return used.length > 0 ? used : this.#existing(standard);
	}

	isOn(place: Place, name: string): boolean {
		return this.chosenIn(place).includes(name);
	}

	toggle(place: Place, name: string): void {
		const before = this.chosenIn(place);
		const after = before.includes(name)
			? before.filter((one) => one !== name)
			: [...before, name].toSorted();
		if (place.id === null) this.#choices.standard = after;
		else this.#choices.set(place.id, after, place.isTemporary);
		this.#version += 1;
	}

	/** Keeps the choice of a new conversation that has got its id. */
	adopt({ id, isTemporary }: Pick<Place, 'id' | 'isTemporary'>): void {
		if (id === null || this.#choices.get(id) !== null) return;
		this.#choices.set(id, this.#choices.standard, isTemporary);
		this.#version += 1;
	}

	/** The feature that brings a tool, or null if there is none here any more. */
	findByTool(tool: string): Feature | null {
		return this.all?.find(({ tools }) => tools.some(({ name }) => name === tool)) ?? null;
	}

	/** Before the features are fetched, all are taken for existing: the server knows better. */
	#existing(names: string[]): string[] {
		const { all } = this;
		return all === null ? names : names.filter((name) => all.some((one) => one.name === name));
	}

	#usedIn(place: Place): string[] {
		const last = place.path.findLast(({ ids }) => ids.length > 1);
		const messages = last === undefined ? [] : place.messagesAt(last);
		const tools = messages.flatMap(({ metadata }) => metadata.tool_result?.tool ?? []);
		const names = tools.flatMap((tool) => this.findByTool(tool)?.name ?? []);
		return [...new Set(names)].toSorted();
	}
}
