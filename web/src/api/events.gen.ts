// Written by `make generate` from the Python values that are encoded. Do not edit.

export type Action = 'next' | 'variant' | 'continue';

export type Alternative = [tokenId: number, text: string, logprob: number];

export interface AnswerDelayed {
	type: 'AnswerDelayed';
	reason: 'loading' | 'queue';
	num_ahead: number;
}

export interface AnswerFinished {
	type: 'AnswerFinished';
	message_id: string;
	ending: Ending;
	usage: Usage;
}

export interface AnswerGuarded {
	type: 'AnswerGuarded';
	screening: Screening;
	text_end?: TextEnd;
}

export interface AnswerStarted {
	type: 'AnswerStarted';
	message_id: string;
	parent_id: string | null;
	model: string;
}

export interface Approval {
	reason: 'untrusted' | 'writes';
	decision?: 'always' | 'conversation' | 'once' | 'refused' | 'expired';
	word: string;
}

export interface ApprovalDecided {
	type: 'ApprovalDecided';
	call_id: string;
	decision: 'always' | 'conversation' | 'once' | 'refused' | 'expired';
	word: string;
}

export interface ApprovalRequested {
	type: 'ApprovalRequested';
	call_id: string;
	reason: 'untrusted' | 'writes';
}

export interface Attachment {
	kind: 'attachment';
	title: string;
	server: string;
	uri: string;
	text: string;
}

export interface ChangedMemory {
	memory_id: string;
	change: 'added' | 'removed' | 'suggested';
}

export interface CitedSource {
	title: string;
	url: string;
	number?: number;
}

export interface ContextBuilt {
	type: 'ContextBuilt';
	sections: Section[];
	seen: Seen | null;
	tools?: string[];
}

export type Ending = 'stop' | 'length' | 'tool_calls' | 'stopped' | 'interrupted' | 'failed' | 'blocked';

export type Event =
	| TurnStarted
	| MessageScreened
	| ContextBuilt
	| PromptEncoded
	| TurnAccepted
	| PromptWarmed
	| MessageAdded
	| AnswerStarted
	| AnswerDelayed
	| PromptRead
	| TextArrived
	| ToolCallStarted
	| ToolArgumentsArrived
	| ToolCallArrived
	| ToolCallDropped
	| ToolStarted
	| ToolProgressed
	| ApprovalRequested
	| ApprovalDecided
	| FormShown
	| FormAnswered
	| ToolReturned
	| AnswerGuarded
	| MemoriesChanged
	| AnswerFinished
	| TitleChosen
	| TurnFinished
	| TurnFailed;

export interface FileRef {
	file_id: string;
	name: string;
	media_type: string;
	num_bytes: number;
}

export interface Form {
	form_id: string;
	message: string;
	schema: string;
	action?: FormAction;
}

export type FormAction = 'accept' | 'decline' | 'cancel';

export interface FormAnswered {
	type: 'FormAnswered';
	call_id: string;
	form_id: string;
	action: FormAction;
}

export interface FormShown {
	type: 'FormShown';
	call_id: string;
	form: Form;
}

export interface MemoriesChanged {
	type: 'MemoriesChanged';
	changed: ChangedMemory[];
}

export interface Message {
	role: Role;
	parts: (Text | ToolCall | ToolResult | Attachment | Thought)[];
	source: Source;
	reasoning?: string;
}

export interface MessageAdded {
	type: 'MessageAdded';
	message_id: string;
	parent_id: string | null;
	message: Message;
}

export interface MessageScreened {
	type: 'MessageScreened';
	screening: Screening;
}

export type PersonalDataKind = 'key' | 'iban' | 'card' | 'email' | 'ssn' | 'tax_id' | 'phone';

export interface PromptEncoded {
	type: 'PromptEncoded';
	num_tokens: number;
	num_window_tokens: number;
	num_dropped_messages: number;
	is_exact: boolean;
	spans: Span[];
}

export interface PromptRead {
	type: 'PromptRead';
	num_cached_tokens: number;
	num_evaluated_tokens: number;
	queued_ms: number;
	prefill_ms: number;
}

export interface PromptWarmed {
	type: 'PromptWarmed';
	is_whole: boolean;
	num_tokens: number;
	read_ms: number;
	num_new_tokens?: number;
}

export interface Redaction {
	placeholder: string;
	kind: PersonalDataKind;
	value: string;
}

export type Role = 'system' | 'developer' | 'user' | 'assistant' | 'tool';

export type SafetyOutcome = 'allow' | 'redact' | 'caution' | 'rewrite' | 'review' | 'cut' | 'block';

export interface SafetyReason {
	layer: 'classifier' | 'judge' | 'leak' | 'personal_data' | 'refusal' | 'rule';
	name: string;
	score?: number;
	rule?: string;
}

export interface Sampling {
	temperature: number | null;
	top_p: number | null;
	top_k: number | null;
	min_p: number | null;
	presence_penalty: number | null;
	frequency_penalty: number | null;
	repeat_penalty: number | null;
	seed: number | null;
	max_tokens: number | null;
	stop: string[] | null;
	logit_bias: ([number, number])[] | null;
	top_logprobs: number | null;
	json_schema: string | null;
	policy: 'beam' | 'greedy' | 'sample' | null;
	num_beams: number | null;
}

export interface Screening {
	stage: 'answer' | 'document' | 'prompt';
	outcome: SafetyOutcome;
	reasons?: SafetyReason[];
	policy?: number;
	took_ms?: number;
	is_complete?: boolean;
	is_queued?: boolean;
	has_help?: boolean;
}

export interface Section {
	source: Source;
	num_messages: number;
	num_chars: number;
	num_tokens: number;
}

export interface Seen {
	starts_at: string | null;
	memories: string[];
	recalled: string[];
	summaries: string[];
	num_dropped_messages: number;
	prompts: UsedPrompt[];
	changed: ChangedMemory[];
}

export type Source = 'template' | 'system' | 'developer' | 'profile' | 'memory' | 'summary' | 'recalled' | 'file' | 'tools' | 'tool' | 'history' | 'user' | 'answer';

export type Span = [source: Source, index: number, numTokens: number];

export interface Stamped {
	seq: number;
	at_ms: number;
	event: Event;
}

export interface Text {
	kind: 'text';
	text: string;
	source?: Source;
	redactions?: Redaction[];
}

export interface TextArrived {
	type: 'TextArrived';
	text: string;
	tokens: Token[];
	first_word_ms?: number;
	num_searched_tokens?: number;
	reasoning?: string;
	thought_ms?: number;
}

export interface TextEnd {
	num_chars: number;
	sha256: string;
}

export interface Thought {
	kind: 'thought';
	text: string;
	took_ms?: number;
}

export interface TitleChosen {
	type: 'TitleChosen';
	title: string;
	revision: number;
}

export type Token = [tokenId: number, text: string, logprob: number | null, atMs: number, top: Alternative[]];

export interface ToolArgumentsArrived {
	type: 'ToolArgumentsArrived';
	call_id: string;
	text: string;
}

export interface ToolCall {
	kind: 'tool_call';
	call_id: string;
	tool: string;
	arguments: string;
	is_partial?: boolean;
	is_hosted?: boolean;
}

export interface ToolCallArrived {
	type: 'ToolCallArrived';
	call: ToolCall;
}

export interface ToolCallDropped {
	type: 'ToolCallDropped';
	reason: 'cut' | 'malformed' | 'unknown';
	text: string;
	call_id?: string;
}

export interface ToolCallStarted {
	type: 'ToolCallStarted';
	call_id: string;
	tool: string;
	is_hosted?: boolean;
}

export interface ToolProgressed {
	type: 'ToolProgressed';
	call_id: string;
	text: string;
}

export interface ToolResult {
	kind: 'tool_result';
	call_id: string;
	output: string;
	failed: boolean;
	tool?: string;
	server?: string;
	progress?: string;
	approval?: Approval;
	form?: Form;
	is_untrusted?: boolean;
	is_invalid?: boolean;
	sources?: CitedSource[];
	files?: FileRef[];
	safety?: Screening;
}

export interface ToolReturned {
	type: 'ToolReturned';
	result: ToolResult;
}

export interface ToolStarted {
	type: 'ToolStarted';
	message_id: string;
	parent_id: string | null;
	result: ToolResult;
}

export interface TurnAccepted {
	type: 'TurnAccepted';
}

export interface TurnFailed {
	type: 'TurnFailed';
	code: string;
	message: string;
	is_retryable: boolean;
	retry_after_ms: number | null;
}

export interface TurnFinished {
	type: 'TurnFinished';
	ending: Ending;
	has_afterword?: boolean;
}

export interface TurnStarted {
	type: 'TurnStarted';
	turn_id: string;
	conversation_id: string;
	action: Action;
	model: string;
	is_first_turn: boolean;
	created_at: number;
	sampling: Sampling;
	weights_sha256?: string;
	request_id?: string;
	turn_trace_id?: string;
	cluster_region?: string;
	features?: string[];
}

export interface Usage {
	num_input_tokens: number;
	num_cached_tokens: number;
	num_output_tokens: number;
	queued_ms: number;
	prefill_ms: number;
	decode_ms: number;
	is_estimated: boolean;
	first_word_ms?: number;
	entropy?: number;
	surprisal?: number;
	is_truncated: boolean;
	num_searched_tokens?: number;
}

export interface UsedPrompt {
	name: string;
	version: number;
	experiment_id?: string;
}
