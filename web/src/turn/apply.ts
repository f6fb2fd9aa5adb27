/**
 * The messages of a turn are a fold over its events. The server runs the same fold
 * (src/hitsend/transcript.py); tests/turns/ holds both to the same result.
 */
import type {
	ChangedMemory,
	Ending,
	Event,
	Message,
	PromptRead,
	Role,
	Seen,
	TextArrived,
	TurnFailed,
	Usage
} from '$/api/events.gen';

export type Part = Message['parts'][number];

/** One message of the turn, with its place in the conversation's tree. */
export interface Said {
	message_id: string;
	parent_id: string | null;
	role: Role;
	parts: Part[];
	status: 'in_progress' | 'finished' | 'partial' | 'failed';
	ending: Ending | null;
	usage: Usage | null;
	/** Why it failed, as the person was told. */
	problem: string | null;
	/** Of an answer: what else the model saw, where that was anything. */
	seen: Seen | null;
}

export interface Transcript {
	messages: Said[];
	title: string | null;
	/** Null while the turn runs. */
	ending: Ending | null;
	failure: TurnFailed | null;
	seen: Seen | null;
}

export const EMPTY: Transcript = {
	messages: [],
	title: null,
	ending: null,
	failure: null,
	seen: null
};

const NO_USAGE: Usage = {
	num_input_tokens: 0,
	num_cached_tokens: 0,
	num_output_tokens: 0,
	queued_ms: 0,
	prefill_ms: 0,
	decode_ms: 0,
	is_estimated: false,
	is_truncated: false
};

const NOTHING_SEEN: Seen = {
	starts_at: null,
	memories: [],
	recalled: [],
	summaries: [],
	num_dropped_messages: 0,
	prompts: [],
	changed: []
};

export function fold(events: Event[]): Transcript {
	return events.reduce(apply, EMPTY);
}

export function apply(transcript: Transcript, event: Event): Transcript {
	switch (event.type) {
		case 'MessageAdded': {
			const { role, parts } = event.message;
			return withMessage(transcript, said(event, role, parts, 'finished'));
		}
		case 'AnswerStarted':
			return withMessage(transcript, {
				...said(event, 'assistant', [], 'in_progress'),
				seen: transcript.seen
			});
		case 'ContextBuilt':
			return { ...transcript, seen: event.seen ?? null };
		case 'MemoriesChanged':
			return withChanged(transcript, event.changed);
		case 'PromptRead':
			return withLast(transcript, () => ({ usage: usageOfPrompt(event) }));
		case 'TextArrived':
			return withLast(transcript, ({ parts, usage }) => ({
				parts: withText(parts, event.text),
				usage: withOutput(usage ?? NO_USAGE, event)
			}));
		case 'ToolCallArrived':
			return withLast(transcript, ({ parts }) => ({ parts: [...parts, event.call] }));
		case 'ToolReturned':
			return withLast(transcript, ({ parts }) => ({ parts: [...parts, event.result] }));
		case 'AnswerFinished':
			return closed(transcript, event.ending, event.usage);
		case 'TitleChosen':
			return { ...transcript, title: event.title };
		case 'TurnFinished':
			return { ...closed(transcript, event.ending), ending: event.ending };
		case 'TurnFailed':
			return {
				...closed(transcript, 'failed', null, event.message),
				ending: 'failed',
				failure: event
			};
		case 'TurnStarted':
		case 'TurnAccepted':
		case 'PromptEncoded':
		case 'PromptWarmed':
		case 'AnswerDelayed':
			return transcript;
		default:
			return event satisfies never;
	}
}

function said(
	{ message_id, parent_id }: Pick<Said, 'message_id' | 'parent_id'>,
	role: Role,
	parts: Part[],
	status: Said['status']
): Said {
	return {
		message_id,
		parent_id,
		role,
		parts,
		status,
		ending: null,
		usage: null,
		problem: null,
		seen: null
	};
}

function withMessage(transcript: Transcript, message: Said): Transcript {
	return { ...transcript, messages: [...transcript.messages, message] };
}

/** Told with the answer, whether it has begun, has ended, or is yet to come. */
function withChanged(transcript: Transcript, more: ChangedMemory[]): Transcript {
	const before = transcript.seen ?? NOTHING_SEEN;
	const seen = { ...before, changed: [...before.changed, ...more] };
	const next = { ...transcript, seen };
	return next.messages.at(-1)?.role === 'assistant' ? withLast(next, () => ({ seen })) : next;
}

function usageOfPrompt(read: PromptRead): Usage {
	return {
		...NO_USAGE,
		num_input_tokens: read.num_cached_tokens + read.num_evaluated_tokens,
		num_cached_tokens: read.num_cached_tokens,
		queued_ms: read.queued_ms,
		prefill_ms: read.prefill_ms
	};
}

function withOutput(usage: Usage, arrived: TextArrived): Usage {
	const { tokens, first_word_ms, num_searched_tokens: more } = arrived;
	const counted = { ...usage, num_output_tokens: usage.num_output_tokens + tokens.length };
	const searched = { num_searched_tokens: (usage.num_searched_tokens ?? 0) + (more ?? 0) };
	return withFirstWord(more === undefined ? counted : { ...counted, ...searched }, first_word_ms);
}

function withFirstWord(usage: Usage, first_word_ms: number | undefined): Usage {
	return first_word_ms === undefined ? usage : { ...usage, first_word_ms };
}

/** Text that follows text is one text. */
function withText(parts: Part[], text: string): Part[] {
	const last = parts.at(-1);
	if (last?.kind === 'text') return parts.with(-1, { kind: 'text', text: last.text + text });
	return text === '' ? parts : [...parts, { kind: 'text', text }];
}

/** The last message ends here, unless it already has. */
function closed(
	transcript: Transcript,
	ending: Ending,
	usage: Usage | null = null,
	problem: string | null = null
): Transcript {
	if (transcript.messages.at(-1)?.status !== 'in_progress') return transcript;
	return withLast(transcript, (last) => ({
		status: statusAfter(ending),
		ending,
		// No engine can know when Send was pressed: that the turn has told already.
		usage: usage === null ? last.usage : withFirstWord(usage, last.usage?.first_word_ms),
		problem
	}));
}

function statusAfter(ending: Ending): Said['status'] {
	if (ending === 'stopped' || ending === 'interrupted') return 'partial';
	return ending === 'failed' ? 'failed' : 'finished';
}

function withLast(transcript: Transcript, change: (last: Said) => Partial<Said>): Transcript {
	const last = transcript.messages.at(-1);
	if (last === undefined) throw new Error('A turn cannot go on before its first message.');
	return { ...transcript, messages: transcript.messages.with(-1, { ...last, ...change(last) }) };
}
