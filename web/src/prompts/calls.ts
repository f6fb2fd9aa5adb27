/** Prompts, their versions and comparisons, and the log of changes: as they travel, and how they are asked for. */
import type { Api } from '$/api/client';
import type { Sampling } from '$/api/events.gen';

export interface Slot {
	name: string;
	kind: 'text' | 'data' | 'list' | 'flag';
	is_required: boolean;
	about: string;
}

/** One that an administrator wrote. */
export interface Written {
	version: number;
	template: string;
	note: string;
	/** Null once that person is gone. */
	created_by: string | null;
	created_at: number;
}

export interface Prompt {
	name: string;
	about: string;
	slots: Slot[];
	/** Answers are made with it: its versions can be compared. */
	is_in_chat: boolean;
	/** Something is answered as its decoding says. */
	is_decoded: boolean;
	shipped: {
		version: number;
		template: string;
		sampling: Sampling;
		/** Another text for models whose name has this in it. */
		families: Record<string, string>;
	};
	/** The newest first. */
	versions: Written[];
	/** What is told. */
	active: number;
	/** Why versions that were chosen are not told: they no longer fit. */
	misfits: Record<number, string>;
	/** What an administrator set; null is what comes with hitsend. */
	sampling: Sampling | null;
	/** The comparison that is under way. */
	experiment: { id: string; versions: number[] } | null;
}

export interface Told {
	role: 'system' | 'user' | 'assistant';
	text: string;
}

export interface Experiment {
	id: string;
	prompt: string;
	versions: number[];
	started_at: number;
	ended_at: number | null;
	winner: number | null;
}

export type Measure =
	'liked' | 'declined' | 'answer_tokens' | 'input_tokens' | 'first_word_ms' | 'seconds';

/** Over people, with the interval that holds the truth 19 times in 20. */
export interface Mean {
	value: number;
	low: number | null;
	high: number | null;
	num_people: number;
}

export interface Variant {
	version: number;
	num_people: number;
	num_turns: number;
	num_up: number;
	num_down: number;
	num_declined: number;
	means: Partial<Record<Measure, Mean>>;
}

/** How much more one has than the first. */
export interface Difference {
	version: number;
	measure: Measure;
	low: number;
	high: number;
	verdict: 'better' | 'worse' | 'more' | 'less' | 'unclear';
}

export interface Report {
	experiment: Experiment;
	outcome: {
		variants: Variant[];
		differences: Difference[];
		/** Of each version. Below that nothing is said of a difference. */
		min_people: number;
	};
}

export interface Change {
	position: number;
	at: number;
	/** Null once that person is gone. */
	name: string | null;
	action: string;
	subject: string;
	detail: Record<string, string>;
}

type Choice = { version: number } | { sampling: Partial<Sampling> | null };

export class Calls {
	#api: Api;

	constructor(api: Api) {
		this.#api = api;
	}

	prompts = async () => (await this.#api.admin<{ items: Prompt[] }>('GET', 'prompts')).items;
	write = (name: string, template: string, note: string) =>
		this.#api.admin<{ version: number }>('POST', `prompts/${name}/versions`, { template, note });
	choose = (name: string, choice: Choice) => this.#api.admin('PUT', `prompts/${name}`, choice);
	tryOut = async (name: string, template: string) =>
		(await this.#api.admin<{ messages: Told[] }>('POST', `prompts/${name}/try`, { template }))
			.messages;

	experiments = async () =>
		(await this.#api.admin<{ items: Experiment[] }>('GET', 'experiments')).items;
	start = (prompt: string, versions: number[]) =>
		this.#api.admin<Experiment>('POST', 'experiments', { prompt, versions });
	report = (id: string) => this.#api.admin<Report>('GET', `experiments/${id}`);
	end = (id: string, winner: number | null) =>
		this.#api.admin<Experiment>('POST', `experiments/${id}/end`, { winner });

	/** The newest, or those before a position. */
	changes = async (limit: number, before: number | null) => {
		const from = before === null ? '' : `&before=${before}`;
		return (await this.#api.admin<{ items: Change[] }>('GET', `audit?limit=${limit}${from}`)).items;
	};
}
