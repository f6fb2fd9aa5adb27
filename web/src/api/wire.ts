/** Types of the wire: the generated ones, and those that only the page has. No behaviour. */
import type * as gen from './wire.gen';

export type * from './wire.gen';
/** The parent of a conversation's first message, and the name of the socket protocol. */
export { ROOT, SUBPROTOCOL } from './wire.gen';

/** The fields of a message that the page reads. */
export type Message = Pick<gen.Message, 'id' | 'create_time' | 'status'> & {
	author: { role: string };
	content: gen.SendBodyContent;
	metadata: Partial<gen.Metadata>;
};

export type ConversationNode = Omit<gen.ConversationNode, 'message'> & { message: Message | null };
export type ConversationSummary = Omit<gen.ConversationSummary, 'create_time'>;
export type Model = Omit<gen.Model, 'weights_sha256' | 'has_next_token_probs' | 'is_exact'>;
export type Completions = Pick<gen.Completions, 'is_enabled'> & Partial<gen.Completions>;
export type PageError = Omit<gen.PageError, 'build'>;

/** A message as streamed in deltas, which never leave it out. */
export type Envelope = Pick<gen.Envelope, 'conversation_id'> & { message: Message };
/** The server encodes the missed frames before it builds the reply, so they have no type there. */
export type SubscribeReply = Pick<gen.SubscribeReply, 'carry'> & {
	catchups: (gen.MessageFrame | gen.SnapshotFrame)[];
};

/** Requests always have these fields, although the server has defaults for them. */
export type SendBody = gen.SendBody &
	Required<Pick<gen.SendBody, 'messages' | 'parent_message_id' | 'model'>>;
export type ResumeBody = Required<Omit<gen.ResumeBody, 'mode'>>;

/** A second factor at sign-in: a code, or what the browser made with a passkey. */
export interface SecondFactorProof {
	method: gen.SecondStep['methods'][number];
	code?: string;
	credential?: unknown;
}

/** The fields of a tool's form, as the person filled them in. */
export type FormContent = Record<string, string | number | boolean | string[]>;

/** Query parameters of the list of conversations, which the server reads one by one. */
export interface ConversationQuery {
	offset: number;
	limit: number;
	q?: string | undefined;
	is_archived?: boolean;
	is_pinned?: boolean;
	folder_id?: string;
}

/** Number of tokens that a Send would take, with everything the model reads before it. */
export type PromptSize = {
	[Field in 'num_tokens' | 'num_window_tokens' | 'num_dropped_messages' | 'is_exact']: NonNullable<
		gen.PrewarmReply[Field]
	>;
};

/** Why a request or an answer failed, for the page to show. */
export interface Failure {
	message: string;
	code: string | null;
	/** The field of the request that is to blame, if any. */
	param?: string | null;
	retryable?: boolean;
	/** Unix milliseconds at which to retry, if the server said so. */
	retryAt?: number | null;
	/** The id of the request in the server's log. */
	requestId?: string | null;
}
