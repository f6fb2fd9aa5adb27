/** What travels between the page and /backend-api, as types. No behaviour. */
import type { Ending, Sampling, Usage } from './events.gen';

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

export interface Models {
	models: Model[];
	default_model: string | null;
	offers: Offer[];
}

/** Which conversations are asked for. */
export interface Which {
	offset: number;
	limit?: number;
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
	timezone?: string;
	timezone_offset_min?: number;
}

/** The root of a conversation, before it has a message. */
export const ROOT = 'client-created-root';

export interface Failure {
	message: string;
	code: string | null;
	/** The field of the request that is to blame, where one is. */
	param?: string | null;
	retryable?: boolean;
}

/** Events of the stream that are not deltas. Types we do not know are passed over. */
export type SideEvent =
	| { type: 'title_generation'; title: string; conversation_id: string }
	| { type: 'stream_resumed'; carry: { c: number | null; p: string | null; o: string | null } }
	| { type: 'server_ste_metadata'; metadata: { ttft_ms?: number | null } }
	| { type: 'answer_delayed'; reason: 'queue' | 'loading'; num_ahead: number }
	| { type: 'error'; error: Failure }
	| {
			type: 'message_stream_complete';
			status: string;
			messages: { id: string; chars: number; sha256: string }[];
	  };
