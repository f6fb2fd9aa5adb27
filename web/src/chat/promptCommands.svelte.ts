/** The prompts of servers as slash commands, such as `/wiki:summary`. */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import type { Failure, McpPrompt, McpSource } from '$/api/wire';
import type { Action } from '$/state/action';
import type { Sources } from '$/state/sources.svelte';

/** A prompt whose arguments the person fills in. */
export interface AskedPrompt {
	source: McpSource;
	prompt: McpPrompt;
}

export class PromptCommands {
	asked = $state.raw<AskedPrompt | null>(null);
	/** The one that is being got. */
	getting = $state.raw<McpPrompt | null>(null);
	problem = $state.raw<Failure | null>(null);
	/** Servers that have not answered. */
	silent = $derived.by(() =>
		this.#sources.prompts.filter(({ items }) => items.value === null || items.loading.problem)
	);
	actions = $derived.by((): Action[] =>
		this.#sources.prompts.flatMap(({ source, items }) =>
			(items.value ?? []).map((prompt) => ({
				id: `prompt-${source.id}-${prompt.name}`,
				icon: 'plug',
				label: prompt.description === '' ? prompt.title : `${prompt.title}: ${prompt.description}`,
				slash: [toCommand(`${source.prefix}:${prompt.name}`), toCommand(prompt.name)],
				run: () => void this.#run({ source, prompt })
			}))
		)
	);

	#api: Pick<Api, 'getServerPrompt'>;
	#sources: Sources;
	#onfill: (text: string) => void;

	constructor(api: Pick<Api, 'getServerPrompt'>, sources: Sources, onfill: (text: string) => void) {
		this.#api = api;
		this.#sources = sources;
		this.#onfill = onfill;
	}

	/** Gets the text of a prompt. Throws if it cannot be got. */
	async fill({ source, prompt }: AskedPrompt, values: Record<string, string>): Promise<void> {
		const { name } = prompt;
		this.#onfill(await this.#api.getServerPrompt(source.id, { name, arguments: values }));
	}

	/** Prompts without arguments need no form. */
	async #run(chosen: AskedPrompt): Promise<void> {
		this.problem = null;
		if (chosen.prompt.arguments.length > 0) {
			this.asked = chosen;
			return;
		}
		this.getting = chosen.prompt;
		try {
			await this.fill(chosen, {});
		} catch (error) {
			this.problem = toFailure(error);
		} finally {
			this.getting = null;
		}
	}
}

function toCommand(name: string): string {
	return name.replaceAll(/\s+/g, '-');
}
