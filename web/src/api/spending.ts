/** What limits allow and leave, what was used, and what that costs: as it travels. No behaviour. */

/** People who share what they may use in a day. */
export interface Group {
	id: string;
	name: string;
	num_people: number;
}

/** What may be used; null is without a limit. */
export interface Limit {
	requests_per_minute: number | null;
	tokens_per_minute: number | null;
	tokens_per_day: number | null;
}

export type LimitScope = 'everyone' | 'address' | 'group' | 'user' | 'key';

export interface Limits {
	/** Those that are set. The target is empty where a scope has none. */
	items: (Limit & { scope: LimitScope; target: string; target_name: string })[];
	keys: { id: string; user_id: string; user_name: string; label: string }[];
}

/** What is left of a limit; null where there is none. */
export interface Left {
	limit: number | null;
	remaining: number | null;
	reset_ms: number | null;
}

export interface Allowance {
	requests: Left;
	tokens_minute: Left;
	tokens_day: Left;
	group: { name: string; tokens_day: Left } | null;
}

/** What was used. The cost is null where a model in it has no price. */
export interface Used {
	num_turns: number;
	num_input_tokens: number;
	/** Of the input. */
	num_cached_tokens: number;
	num_output_tokens: number;
	cost: number | null;
}

/** Over some days, today the last. Every day has its line. */
export interface Spending {
	currency: string;
	/** In UTC, as `2026-11-15`. */
	days: (Used & { day: string })[];
	models: (Used & { model: string })[];
	total: Used;
}

export interface SpendingOfAll extends Spending {
	/** A name is null where its owner is gone. */
	people: (Used & { user_id: string; name: string | null })[];
	groups: (Used & { group_id: string; name: string | null })[];
}

/** Of a million tokens. */
export interface Price {
	input: number;
	cached: number;
	output: number;
}

export interface Prices {
	currency: string;
	items: (Price & { model: string })[];
}
