/** What is remembered of somebody, what they say of themselves, and what a model saw of it. Types. */
import type { Section } from './events.gen';

/** Something a person wants remembered, in their own words. */
export interface Memory {
	id: string;
	text: string;
	/** In a chat, on the page of memories, or from what a model noticed. */
	origin: 'asked' | 'written' | 'suggested';
	/** Where it was asked for, while that is there. */
	conversation_id: string | null;
	/** Not accepted yet: used by nothing. */
	is_suggested: boolean;
	/** False where it only says what to do: no model is shown such. */
	is_shown: boolean;
	created_at: number;
	updated_at: number;
}

export interface MemoryPage {
	items: Memory[];
	total: number;
}

/** What a person tells every conversation of theirs, and what may be remembered of them. */
export interface Profile {
	call_me: string;
	about_me: string;
	style: string;
	is_on: boolean;
	uses_memory: boolean;
	suggests_memories: boolean;
}

/** What a model saw before it answered, besides the newest messages. */
export interface Context {
	prompts: { name: string; version: number; text: string | null }[];
	profile: string;
	memories: { id: string; text: string }[];
	summaries: { id: string; level: number; text: string }[];
	recalled: { message_id: string; question: string; answer: string }[];
	starts_at: string | null;
	num_dropped_messages: number;
	sections: Section[];
}
