/** What travels over the socket, as types. No behaviour. */
import type { Carry } from './wire';

/** Which socket we speak to. A server that speaks another refuses the connection. */
export const SUBPROTOCOL = 'hitsend.v1';

interface Presence {
	type: 'presence';
	state: 'foreground';
}

export type Command =
	| { type: 'connect'; presence: Presence; last_connection?: string }
	| { type: 'subscribe'; topic_id: string; offset: string; mode?: 'compact'; token?: string }
	| { type: 'unsubscribe'; topic_id: string }
	| { type: 'ack'; topic_id: string; seq: number }
	| { type: 'nack'; topic_id: string; from: number; to: number; reason: 'gap' }
	| { type: 'pong'; t: number };

/** Some events of a turn, encoded as its stream would have them. */
export interface MessageFrame {
	type: 'message';
	topic_id: string;
	/** The last event it covers, and how many it covers. */
	seq: number;
	n: number;
	payload: { payload: { encoded_item: string } };
}

/** What a topic has come to, instead of how it came there. */
export interface SnapshotFrame {
	type: 'snapshot';
	topic_id: string;
	seq: number;
	channels: Record<string, unknown>;
	carry: Carry;
}

export interface ConnectReply {
	connection_id: string;
}

export interface SubscribeReply {
	catchups: (MessageFrame | SnapshotFrame)[];
	carry: Carry;
}

export interface Refusal {
	code: string;
	message: string;
	retryable: boolean;
	retry_after_ms?: number | null;
}

/** What becomes of the person's turns, wherever they were begun. */
export type News =
	| { type: 'turn_began' | 'turn_ended'; conversation_id: string; turn_exchange_id: string }
	| { type: 'title_changed'; conversation_id: string; title: string };

export type ServerFrame =
	| MessageFrame
	| SnapshotFrame
	| { type: 'reply'; id: number; ok: true; reply: unknown }
	/** Without an id it is about a topic that cannot go on. */
	| { type: 'nack'; id: number | null; topic_id: string | null; error: Refusal }
	| { type: 'news'; news: News }
	| { type: 'ping'; t: number };
