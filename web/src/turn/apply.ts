/**
 * The messages of a turn are a fold over its events. The server runs the same fold
 * (src/hitsend/transcript.py); tests/turns/ holds both to the same result.
 */
import type {
	ChangedMemory,
	Ending,
	Event,
	Form,
	Message,
	PromptRead,
	Role,
	Screening,
	Seen,
	TextArrived,
	TextEnd,
	Thought,
	ToolCall,
	ToolResult,
	TurnFailed,
	Usage
} from '$/api/events.gen';

export type Part = Message['parts'][number];

/** One message of the turn, with its place in the conversation's tree. */
export interface TranscriptMessage {
	message_id: string;
	parent_id: string | null;
	role: Role;
	parts: Part[];
	status: 'in_progress' | 'finished' | 'partial' | 'failed';
	ending: Ending | null;
	usage: Usage | null;
	/** The error message that the person saw. */
	problem: string | null;
	/** What else the model saw before this answer. */
	seen: Seen | null;
	/** What the safety checks made of it, if there is something to say. */
	safety: Screening | null;
}

export interface Transcript {
	messages: TranscriptMessage[];
	title: string | null;
	/** Null while the turn runs. */
	ending: Ending | null;
	failure: TurnFailed | null;
	seen: Seen | null;
	/** Of the person's message. */
	screening: Screening | null;
}

export const EMPTY: Transcript = {
	messages: [],
	title: null,
	ending: null,
	failure: null,
	seen: null,
	screening: null
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

const EMPTY_SEEN: Seen = {
	starts_at: null,
	memories: [],
	recalled: [],
	summaries: [],
	num_dropped_messages: 0,
	prompts: [],
	changed: []
};

const NO_FORM: Form = { form_id: '', message: '', schema: '{}' };

export function fold(events: Event[]): Transcript {
	return events.reduce(apply, EMPTY);
}

export function apply(transcript: Transcript, event: Event): Transcript {
	switch (event.type) {
		case 'MessageAdded': {
			const { role, parts } = event.message;
			return addMessage(transcript, {
				...createMessage(event, role, parts, 'finished'),
				safety: isWorthShowing(transcript.screening) ? transcript.screening : null
			});
		}
		case 'AnswerStarted':
			return addMessage(transcript, {
				...createMessage(event, 'assistant', [], 'in_progress'),
				seen: seenOfNextAnswer(transcript)
			});
		case 'MessageScreened':
			return { ...transcript, screening: event.screening };
		case 'AnswerGuarded':
			return changeLast(transcript, ({ parts }) => ({
				parts: cutText(parts, event.text_end),
				safety: event.screening
			}));
		case 'ContextBuilt':
			return { ...transcript, seen: event.seen ?? null };
		case 'MemoriesChanged':
			return addMemoryChanges(transcript, event.changed);
		case 'PromptRead':
			return changeLast(transcript, () => ({ usage: toPromptUsage(event) }));
		case 'TextArrived':
			return changeLast(transcript, ({ parts, usage }) => ({
				parts: appendText(addThought(parts, event), event.text),
				usage: addOutput(usage ?? NO_USAGE, event)
			}));
		case 'ToolCallStarted': {
			const { call_id, tool, is_hosted } = event;
			const hosted = is_hosted === undefined ? {} : { is_hosted };
			const call: Part = {
				kind: 'tool_call',
				call_id,
				tool,
				arguments: '',
				is_partial: true,
				...hosted
			};
			return changeLast(transcript, ({ parts }) => ({ parts: [...parts, call] }));
		}
		case 'ToolArgumentsArrived':
			return changeLast(transcript, ({ parts }) => ({
				parts: appendArguments(parts, event.text)
			}));
		case 'ToolCallArrived':
			return changeLast(transcript, ({ parts }) => ({ parts: putCall(parts, event.call) }));
		case 'ToolStarted':
			return addMessage(transcript, createMessage(event, 'tool', [event.result], 'in_progress'));
		case 'ToolProgressed':
			return changeResult(transcript, event.call_id, ({ progress }) => ({
				progress: (progress ?? '') + event.text
			}));
		case 'ApprovalRequested':
			return changeResult(transcript, event.call_id, () => ({
				approval: { reason: event.reason, word: '' }
			}));
		case 'ApprovalDecided':
			return changeResult(transcript, event.call_id, ({ approval }) => ({
				approval: {
					reason: approval?.reason ?? 'writes',
					decision: event.decision,
					word: event.word
				}
			}));
		case 'FormShown':
			return changeResult(transcript, event.call_id, () => ({ form: event.form }));
		case 'FormAnswered':
			return changeResult(transcript, event.call_id, ({ form }) => ({
				form: { ...(form ?? NO_FORM), action: event.action }
			}));
		case 'ToolReturned':
			return addResult(transcript, event.result);
		case 'AnswerFinished':
			return closeLast(transcript, event.ending, event.usage);
		case 'TitleChosen':
			return { ...transcript, title: event.title };
		case 'TurnFinished':
			return { ...closeOpen(transcript, event.ending), ending: event.ending };
		case 'TurnFailed':
			return {
				...closeOpen(transcript, 'failed', event.message),
				ending: 'failed',
				failure: event
			};
		case 'TurnStarted':
		case 'TurnAccepted':
		case 'PromptEncoded':
		case 'PromptWarmed':
		case 'AnswerDelayed':
		case 'ToolCallDropped': // a call that was started stays partial
			return transcript;
		default:
			return event satisfies never;
	}
}

function createMessage(
	{ message_id, parent_id }: Pick<TranscriptMessage, 'message_id' | 'parent_id'>,
	role: Role,
	parts: Part[],
	status: TranscriptMessage['status']
): TranscriptMessage {
	return {
		message_id,
		parent_id,
		role,
		parts,
		status,
		ending: null,
		usage: null,
		problem: null,
		seen: null,
		safety: null
	};
}

function addMessage(transcript: Transcript, message: TranscriptMessage): Transcript {
	return { ...transcript, messages: [...transcript.messages, message] };
}

/** Belongs to the newest answer, which may start before or after this event. */
function addMemoryChanges(transcript: Transcript, more: ChangedMemory[]): Transcript {
	const next = { ...transcript, seen: withChanges(transcript.seen, more) };
	const at = transcript.messages.findLastIndex(({ role }) => role === 'assistant');
	return at < 0 ? next : changeAt(next, at, ({ seen }) => ({ seen: withChanges(seen, more) }));
}

function withChanges(seen: Seen | null, more: ChangedMemory[]): Seen {
	const before = seen ?? EMPTY_SEEN;
	return { ...before, changed: [...before.changed, ...more] };
}

/** An answer after tools has seen the same, but changed no memories yet. */
function seenOfNextAnswer({ seen, messages }: Transcript): Seen | null {
	const isFirst = !messages.some(({ role }) => role === 'assistant');
	return seen === null || isFirst ? seen : { ...seen, changed: [] };
}

/** The place of the message with the result of a call, or -1. */
function findResult({ messages }: Transcript, callId: string): number {
	return messages.findLastIndex(({ role, parts }) => {
		const [part] = parts;
		return role === 'tool' && part?.kind === 'tool_result' && part.call_id === callId;
	});
}

function changeResult(
	transcript: Transcript,
	callId: string,
	change: (result: ToolResult) => Partial<ToolResult>
): Transcript {
	return changeAt(transcript, findResult(transcript, callId), ({ parts }) => ({
		parts: parts.map((part) => (part.kind === 'tool_result' ? { ...part, ...change(part) } : part))
	}));
}

/** Fills the message of the call. In older logs a result is a part of the answer. */
function addResult(transcript: Transcript, result: ToolResult): Transcript {
	const part: Part = { ...result, kind: 'tool_result' };
	const at = findResult(transcript, result.call_id);
	if (at < 0) return changeLast(transcript, ({ parts }) => ({ parts: [...parts, part] }));
	return changeAt(transcript, at, () => ({ parts: [part], status: 'finished' }));
}

function toPromptUsage(read: PromptRead): Usage {
	return {
		...NO_USAGE,
		num_input_tokens: read.num_cached_tokens + read.num_evaluated_tokens,
		num_cached_tokens: read.num_cached_tokens,
		queued_ms: read.queued_ms,
		prefill_ms: read.prefill_ms
	};
}

function addOutput(usage: Usage, arrived: TextArrived): Usage {
	const { tokens, first_word_ms, num_searched_tokens: more } = arrived;
	const counted = { ...usage, num_output_tokens: usage.num_output_tokens + tokens.length };
	const searched = { num_searched_tokens: (usage.num_searched_tokens ?? 0) + (more ?? 0) };
	return setFirstWord(more === undefined ? counted : { ...counted, ...searched }, first_word_ms);
}

function setFirstWord(usage: Usage, first_word_ms: number | undefined): Usage {
	return first_word_ms === undefined ? usage : { ...usage, first_word_ms };
}

/** A message has one thought, which comes first. */
function addThought(parts: Part[], { reasoning = '', thought_ms }: TextArrived): Part[] {
	if (reasoning === '' && thought_ms === undefined) return parts;
	const [first] = parts;
	const before: Thought = first?.kind === 'thought' ? first : { kind: 'thought', text: '' };
	const timed = thought_ms === undefined ? {} : { took_ms: thought_ms };
	const rest = first?.kind === 'thought' ? parts.slice(1) : parts;
	return [{ ...before, text: before.text + reasoning, ...timed }, ...rest];
}

/** Joins the text to a text part at the end. */
function appendText(parts: Part[], text: string): Part[] {
	const last = parts.at(-1);
	if (last?.kind === 'text') return parts.with(-1, { kind: 'text', text: last.text + text });
	return text === '' ? parts : [...parts, { kind: 'text', text }];
}

function isWorthShowing(screening: Screening | null): boolean {
	if (screening === null) return false;
	const { outcome, reasons = [], is_complete = true } = screening;
	return outcome !== 'allow' || reasons.length > 0 || !is_complete;
}

/** Keeps so many characters of the texts, and drops what follows them. */
function cutText(parts: Part[], end: TextEnd | undefined): Part[] {
	if (end === undefined) return parts;
	let left = end.num_chars;
	const kept: Part[] = [];
	for (const part of parts) {
		if (part.kind === 'text') {
			const chars = Array.from(part.text);
			if (chars.length >= left) {
				return left ? [...kept, { kind: 'text', text: chars.slice(0, left).join('') }] : kept;
			}
			left -= chars.length;
		}
		kept.push(part);
	}
	return kept;
}

/** Extends the call at the end, which is partial. */
function appendArguments(parts: Part[], text: string): Part[] {
	const call = parts.at(-1);
	if (call?.kind !== 'tool_call') throw new Error('Arguments cannot come before their call.');
	return parts.with(-1, { ...call, arguments: call.arguments + text });
}

/** Replaces the call that was started. Older logs have only whole calls. */
function putCall(parts: Part[], call: ToolCall): Part[] {
	const last = parts.at(-1);
	const isStarted = last?.kind === 'tool_call' && last.call_id === call.call_id;
	return isStarted ? parts.with(-1, call) : [...parts, call];
}

/** Closes all messages in progress: several calls of tools may run at once. */
function closeOpen(
	transcript: Transcript,
	ending: Ending,
	problem: string | null = null
): Transcript {
	const messages = transcript.messages.map((message) =>
		message.role === 'tool' && message.status === 'in_progress'
			? { ...message, status: toStatus(ending), ending }
			: message
	);
	return closeLast({ ...transcript, messages }, ending, null, problem);
}

/** Closes the last message, unless it is closed already. */
function closeLast(
	transcript: Transcript,
	ending: Ending,
	usage: Usage | null = null,
	problem: string | null = null
): Transcript {
	if (transcript.messages.at(-1)?.status !== 'in_progress') return transcript;
	return changeLast(transcript, (last) => ({
		status: toStatus(ending),
		ending,
		// The engine's usage lacks the time since Send, which an earlier event carried.
		usage: usage === null ? last.usage : setFirstWord(usage, last.usage?.first_word_ms),
		problem
	}));
}

function toStatus(ending: Ending): TranscriptMessage['status'] {
	if (ending === 'stopped' || ending === 'interrupted' || ending === 'blocked') return 'partial';
	return ending === 'failed' ? 'failed' : 'finished';
}

function changeLast(
	transcript: Transcript,
	change: (last: TranscriptMessage) => Partial<TranscriptMessage>
): Transcript {
	return changeAt(transcript, transcript.messages.length - 1, change);
}

function changeAt(
	transcript: Transcript,
	at: number,
	change: (message: TranscriptMessage) => Partial<TranscriptMessage>
): Transcript {
	const message = transcript.messages[at];
	if (message === undefined) throw new Error('A turn cannot go on before its first message.');
	const messages = transcript.messages.with(at, { ...message, ...change(message) });
	return { ...transcript, messages };
}
