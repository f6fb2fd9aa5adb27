/** What travels between the page and /backend-api, as types. No behaviour. */
import type { Ending, Sampling, Seen, Usage } from './events.gen';

export interface Me {
	user: { id: string; name: string; role: 'admin' | 'member' };
	csrf_token: string;
}

/** A browser somebody is signed in with. */
export interface SignedIn {
	id: string;
	user_agent: string;
	created_at: number;
	last_seen_at: number;
	expires_at: number;
	is_current: boolean;
}

/** Somebody with an account here, as an administrator sees them. */
export interface PersonLine {
	id: string;
	name: string;
	role: 'admin' | 'member';
	create_time: number;
	is_disabled: boolean;
	last_seen_time: number | null;
	num_conversations: number;
	group_id: string | null;
}

export interface Spread {
	p50: number | null;
	p95: number | null;
	count: number;
}

export interface Speed {
	first_token_ms: Spread;
	token_ms: Spread;
}

/** How fast answers were, for the server and for pages, and the errors pages had. */
export interface Speeds {
	models: { model: string; server: Speed; browsers: Speed }[];
	errors: { name: string; where: string; count: number; last_at: number }[];
}

/** What the server's settings allow. */
export interface Rules {
	instructions: string;
	max_message_chars: number;
	max_answer_tokens: number;
	num_window_tokens: number;
	max_import_bytes: number;
	session_days: number;
	allow_sharing: boolean;
}

export interface Key {
	id: string;
	prefix: string;
	label: string;
	created_at: number;
	last_used_at: number | null;
}

export interface Invite {
	id: string;
	role: 'admin' | 'member';
	created_at: number;
	expires_at: number;
	used_by: string | null;
}

export interface Download {
	name: string;
	num_done_bytes: number;
	num_bytes: number;
	problem: string | null;
}

export interface Status {
	state: 'starting' | 'ready' | 'restarting' | 'down';
	detail: string;
	num_busy_slots: number;
	num_slots: number;
	num_waiting: number;
	downloads: Download[];
	model: string | null;
}

export type Strength = 'code' | 'conversation' | 'short_answers' | 'tools' | 'writing';

export interface Model {
	name: string;
	title: string;
	is_default: boolean;
	num_window_tokens: number;
	level: 'tokens' | 'chat';
	where: 'here' | 'remote';
	quantisation: string | null;
	num_bytes: number | null;
	can_call_tools: boolean;
	num_tokens_per_s: number | null;
	good_at: Strength[];
}

/** A model the server knows how to fetch. */
export interface Offer {
	name: string;
	title: string;
	num_bytes: number;
	num_window_tokens: number;
	quantisation: string;
	good_at: Strength[];
	is_here: boolean;
}

/** A text in a model's own tokens. A piece is null where it is not whole characters. */
export interface Tokenized {
	model: string;
	num_tokens: number;
	num_characters: number;
	num_bytes: number;
	ids: number[];
	pieces: (string | null)[];
	/** Base64, of the pieces that are null. */
	bytes: (string | null)[];
	spans: [source: string, index: number, numTokens: number][];
}

export interface Models {
	models: Model[];
	default_model: string | null;
	offers: Offer[];
}

/** Which conversations are asked for. */
export interface Which {
	offset: number;
	limit: number;
	q?: string | undefined;
	is_archived?: boolean;
	is_pinned?: boolean;
	folder_id?: string;
}

export interface ConversationSummary {
	id: string;
	title: string;
	update_time: number;
	is_archived: boolean;
	is_pinned: boolean;
	folder_id: string | null;
	snippet?: string | null;
	/** The message the snippet is from. */
	message_id?: string | null;
}

/** What is not given stays as it is. `is_visible: false` deletes; for a minute, `true` undoes it. */
export interface ConversationChange {
	title?: string;
	current_node?: string;
	is_archived?: boolean;
	is_visible?: boolean;
	is_pinned?: boolean;
	folder_id?: string | null;
}

export interface Folder {
	id: string;
	name: string;
	num_conversations: number;
}

export type Reason = 'wrong' | 'not_helpful' | 'unsafe' | 'style' | 'other';

export interface Feedback {
	rating: 'up' | 'down';
	reason: Reason | null;
	text: string;
}

export interface Share {
	id: string;
	path: string;
	title: string;
	conversation_id: string;
	create_time: number;
}

/** What anyone with the link of a share can read. */
export interface Shared {
	title: string;
	create_time: number;
	messages: Message[];
}

export interface ImportReport {
	source: 'chatgpt' | 'open_webui' | 'hitsend';
	num_conversations: number;
	num_messages: number;
	num_already_here: number;
	left_out: { title: string; why: string }[];
	num_parts_left_out: { images: number; files: number; tools: number; other: number };
}

/** What a message would weigh, with everything the model reads before it. */
export interface Weight {
	num_tokens: number;
	num_window_tokens: number;
	num_dropped_messages: number;
	is_exact: boolean;
}

/** What was done before a Send. Nothing is counted where nobody could. */
export interface Prepared {
	status: 'ok' | 'skipped';
	/** Brought along with the Send, it tells what was read ahead. Good for a minute. */
	conduit_token: string | null;
	warmup_state: 'cold' | 'warming' | 'warm';
	num_tokens: number | null;
	num_window_tokens: number | null;
	num_dropped_messages: number | null;
	is_exact: boolean | null;
}

/** A message that is being written. */
export interface Begun {
	input_text: string;
	num_completions: number;
	conversation_id?: string;
	parent_message_id?: string;
	model: string;
}

export interface Completions {
	completions?: string[];
	/** False where the machine is too slow for it. */
	is_enabled: boolean;
}

export interface Challenge {
	prepare_token: string;
	proofofwork: { required: boolean; seed: string; difficulty: string };
	expire_after: number;
}

export interface Earned {
	token: string;
	/** In seconds. */
	expire_after: number;
}

/** By the names public captures have for them. In milliseconds; `ts_` without the first token. */
export interface Latency {
	model: string;
	count_tokens: number;
	ts_first_token_ms: number;
	ts_total_request_ms: number;
	ts_min: number | null;
	ts_mean: number | null;
	ts_median: number | null;
	ts_p95: number | null;
	ts_p99: number | null;
	ts_max_token_time_ms: number | null;
}

/** Something that broke in the page: what kind of thing, where, how often. */
export interface PageError {
	name: string;
	where: string;
	line?: number;
	count?: number;
}

export interface Heard {
	status: 'success' | 'off';
}

export interface ConversationPage {
	items: ConversationSummary[];
	total: number;
	limit: number;
	offset: number;
}

export interface Message {
	id: string;
	author: { role: string };
	create_time: number | null;
	content: { content_type: string; parts: string[] };
	status: 'in_progress' | 'finished_successfully' | 'finished_partial_completion' | 'failed';
	metadata: {
		parent_id?: string | null;
		turn_exchange_id?: string;
		model_slug?: string;
		finish_details?: { type: string; reason: Ending; message?: string };
		usage?: Usage;
		feedback?: Feedback;
		/** Of an answer: what else the model saw, where that was anything. */
		seen?: Seen | null;
		/** A part of the prompt. Nobody said it, and nobody is shown it. */
		is_visually_hidden_from_conversation?: boolean;
	};
}

export interface ConversationNode {
	id: string;
	parent: string | null;
	children: string[];
	message: Message | null;
}

export interface ConversationDetail {
	conversation_id: string;
	title: string;
	is_archived: boolean;
	is_pinned: boolean;
	folder_id: string | null;
	/** In no list, remembered nowhere, and gone after a day. */
	is_temporary?: boolean;
	current_node: string | null;
	mapping: Record<string, ConversationNode>;
	running: { turn_exchange_id: string; message_id: string | null } | null;
}

export interface SendBody {
	action: 'next' | 'variant' | 'continue';
	messages: { id: string; author: { role: 'user' }; content: Message['content'] }[];
	parent_message_id: string;
	conversation_id?: string;
	model: string;
	sampling?: Partial<Sampling>;
	supported_encodings: ['v1'];
	/** `none`: nothing is to be read ahead. */
	client_prepare_state?: 'none' | 'sent';
	/** The conversation that this begins is a temporary one. */
	history_and_training_disabled?: boolean;
	timezone?: string;
	timezone_offset_min?: number;
}

/** Where a stream that was cut off goes on. */
export interface ResumeBody {
	conversation_id: string;
	turn_exchange_id: string;
	offset: number;
}

/** The root of a conversation, before it has a message. */
export const ROOT = 'client-created-root';

export interface Failure {
	message: string;
	code: string | null;
	/** The field of the request that is to blame, where one is. */
	param?: string | null;
	retryable?: boolean;
	/** When it may be tried again, where the server said; in Unix milliseconds. */
	retryAt?: number | null;
}

/** What a delta leaves out is the same as in the one before it: channel, path, operation. */
export interface Carry {
	c: number | null;
	p: string | null;
	o: string | null;
}

/** Events of the stream that are not deltas. Types we do not know are passed over. */
export type SideEvent =
	/** The first words of the first message are its first title; the model may choose a second. */
	| { type: 'title_generation'; title: string; conversation_id: string; revision: number }
	| { type: 'resume_conversation_token'; token: string; conversation_id: string }
	| { type: 'stream_resumed'; carry: Carry }
	| { type: 'stream_snapshot'; seq: number; channels: Record<string, unknown>; carry: Carry }
	| {
			type: 'server_ste_metadata';
			metadata: {
				ttft_ms?: number | null;
				conduit_prewarmed?: boolean;
				/** What reading ahead has spared. */
				saved_ms?: number | null;
			};
	  }
	| { type: 'answer_delayed'; reason: 'queue' | 'loading'; num_ahead: number }
	| { type: 'error'; error: Failure }
	| {
			type: 'message_stream_complete';
			status: string;
			messages: { id: string; chars: number; sha256: string }[];
	  };
