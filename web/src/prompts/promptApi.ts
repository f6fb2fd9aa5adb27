/** The administrators' API of prompts, their versions and experiments. */
import type { Api } from '$/api/client';
import type * as wire from '$/api/wire';

/** Sections of a template have only these roles. */
export type RenderedMessage = wire.RenderedMessage & { role: 'system' | 'user' | 'assistant' };

export class PromptApi {
	#api: Api;

	constructor(api: Api) {
		this.#api = api;
	}

	listPrompts = () => this.#api.listAdmin<wire.Prompt>('prompts');
	createVersion = (name: string, template: string, note: string) =>
		this.#api.requestAdmin<wire.CreatedVersion>('POST', `prompts/${name}/versions`, {
			template,
			note
		});
	update = (name: string, update: wire.PromptChoice) =>
		this.#api.requestAdmin('PUT', `prompts/${name}`, update);
	render = async (name: string, template: string) =>
		(
			await this.#api.requestAdmin<wire.RenderedPrompt>('POST', `prompts/${name}/try`, {
				template
			})
		).messages as RenderedMessage[];

	listExperiments = () => this.#api.listAdmin<wire.Experiment>('experiments');
	startExperiment = (prompt: string, versions: number[]) =>
		this.#api.requestAdmin<wire.Experiment>('POST', 'experiments', { prompt, versions });
	getReport = (id: string) =>
		this.#api.requestAdmin<wire.ExperimentReport>('GET', `experiments/${id}`);
	endExperiment = (id: string, winner: number | null) =>
		this.#api.requestAdmin<wire.Experiment>('POST', `experiments/${id}/end`, { winner });
}
