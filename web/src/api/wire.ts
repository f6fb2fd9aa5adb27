/** What travels between the page and /backend-api, as types. No behaviour. */
import type { Ending, Usage } from './events.gen';

export interface Me {
	user: { id: string; name: string; role: 'admin' | 'member' };
	csrf_token: string;
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
	downloads: Download[];
	model: string | null;
}

export interface Model {
	name: string;
	title: string;
	is_default: boolean;
}

export interface ConversationSummary {
	id: string;
	title: string;
	update_time: number;
	snippet?: string | null;
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
	current_node: string | null;
	mapping: Record<string, ConversationNode>;
	running: { turn_exchange_id: string; message_id: string | null } | null;
}

export interface SendBody {
	action: 'next' | 'variant';
	messages: { id: string; author: { role: 'user' }; content: Message['content'] }[];
	parent_message_id: string;
	conversation_id?: string;
	model: string;
	supported_encodings: ['v1'];
	timezone?: string;
	timezone_offset_min?: number;
}

/** The root of a conversation, before it has a message. */
export const ROOT = 'client-created-root';

export interface Failure {
	message: string;
	code: string | null;
	retryable?: boolean;
}

/** Events of the stream that are not deltas. Types we do not know are passed over. */
export type SideEvent =
	| { type: 'title_generation'; title: string; conversation_id: string }
	| { type: 'stream_resumed'; carry: { c: number | null; p: string | null; o: string | null } }
	| { type: 'server_ste_metadata'; metadata: { ttft_ms?: number | null } }
	| { type: 'error'; error: Failure }
	| {
			type: 'message_stream_complete';
			status: string;
			messages: { id: string; chars: number; sha256: string }[];
	  };
