// Written by `make generate` from the Python values that are encoded. Do not edit.

import type { Action, Attachment, Ending, PersonalDataKind, Redaction, Role, SafetyOutcome, Sampling, Screening, Section, Seen, Source, Span, Stamped, Thought, ToolCall, ToolResult, Usage } from './events.gen';

export interface AccountCreated {
	kind: 'AccountCreated';
	user_id: string;
	role: 'admin' | 'member' | 'reviewer';
	invite_id: string | null;
}

export interface AccountDeleted {
	kind: 'AccountDeleted';
	user_id: string;
}

export interface AccountDisabled {
	kind: 'AccountDisabled';
	user_id: string;
}

export interface AccountEnabled {
	kind: 'AccountEnabled';
	user_id: string;
}

export interface AccountRenamed {
	kind: 'AccountRenamed';
	user_id: string;
}

export interface Ack {
	type: 'ack';
	topic_id: string;
	seq: number;
}

export interface AckInterval {
	every: number;
	ms: number;
}

export interface AllFeatures {
	items: Feature[];
	missing: MissingFeature[];
}

export interface AnswerDelayed {
	type: 'answer_delayed';
	reason: 'loading' | 'queue';
	num_ahead: number;
}

export interface ApiKey {
	id: string;
	user_id: string;
	prefix: string;
	label: string;
	created_at: number;
	last_used_at: number | null;
	scopes: ('admin' | 'chat' | 'memory' | 'read')[];
	expires_at: number | null;
}

export type Audience = 'owner' | 'everyone' | 'groups';

export interface AuditEntry {
	position: number;
	at: number;
	actor_id: string | null;
	actor_name: string | null;
	subject_id: string | null;
	subject_name: string | null;
	via: 'api' | 'command line' | 'page' | 'server';
	address: string;
	session_id: string | null;
	key_id: string | null;
	agent: string;
	event: AuditEvent;
	hash: string;
}

export type AuditEvent =
	| SignedIn
	| SignInFailed
	| SignedOut
	| PasswordChanged
	| SecondFactorAdded
	| SecondFactorRemoved
	| RecoveryCodesReplaced
	| RecoveryCodeUsed
	| ResetLinkCreated
	| PasswordReset
	| AccountCreated
	| AccountRenamed
	| RoleChanged
	| AccountDisabled
	| AccountEnabled
	| AccountDeleted
	| GroupJoined
	| GroupLeft
	| GroupCreated
	| GroupRenamed
	| GroupFeaturesChanged
	| GroupDeleted
	| SafetyPolicyChanged
	| ReviewDecided
	| InviteCreated
	| InviteRevoked
	| KeyCreated
	| KeyDeleted
	| LimitChanged
	| PriceChanged
	| ModelPulled
	| ModelRemoved
	| ShareCreated
	| ShareRevoked
	| ConversationsDeleted
	| ConversationRestored
	| MemoriesDeleted
	| DataExported
	| DataImported
	| BackupMade
	| BackupRestored
	| PromptWritten
	| PromptActivated
	| PromptSamplingChanged
	| ExperimentStarted
	| ExperimentEnded
	| McpServerAdded
	| McpServerChanged
	| McpServerDeleted
	| McpToolChanged
	| McpSignedIn
	| McpSignedOut
	| EntriesExpired
	| EarlierChange;

export interface AuthenticatorItem {
	created_at: number;
	last_used_at: number | null;
}

export interface AuthenticatorSetup {
	secret: string;
	qr_code: string;
	token: string;
}

export interface Author {
	role: Role;
	name: string | null;
	metadata: Record<string, string>;
}

export interface AutocompleteBody {
	input_text: string;
	num_completions?: number;
	in_search_mode?: boolean;
	conversation_id?: string | null;
	parent_message_id?: string | null;
	model?: string;
}

export interface BackupMade {
	kind: 'BackupMade';
}

export interface BackupRestored {
	kind: 'BackupRestored';
	made_at: string;
}

export interface BrowserSession {
	id: string;
	user_agent: string;
	created_at: number;
	last_seen_at: number;
	is_current: boolean;
}

export type CallOutcome = 'ok' | 'failed' | 'unreachable' | 'timeout' | 'stopped';

export interface CallVerdict {
	call_id: string;
	decision: 'always' | 'conversation' | 'once' | 'refused';
	word?: string;
}

export interface Carry {
	c: number | null;
	p: string | null;
	o: Op | null;
}

export interface ChatRequirements {
	persona: string;
	prepare_token: string;
	turnstile: TurnstileRequirement;
	proofofwork: ProofOfWork;
	expire_after: number;
}

export interface Checksum {
	id: string;
	chars: number;
	sha256: string;
}

export interface CodePrinted {
	text: string;
}

export interface CodeResult {
	output: string;
	failed: boolean;
	files: ToolFile[];
}

export type Command =
	| Connect
	| Subscribe
	| SendCommand
	| Stop
	| Unsubscribe
	| Ack
	| Nack
	| Pong;

export interface CommandChange {
	command: string[];
	environment?: Record<string, string>;
}

export interface CommandError {
	code: string;
	message: string;
	retryable: boolean;
	retry_after_ms: number | null;
}

export interface Completions {
	completions: string[];
	is_enabled: boolean;
}

export interface Connect {
	type: 'connect';
	presence?: Presence | null;
	last_connection?: string | null;
}

export interface ConnectReply {
	connection_id: string;
	heartbeat_ms: number;
	ack: AckInterval;
	window: WindowSize;
}

export interface Content {
	parts: [string];
	content_type: 'text';
}

export interface ContextExchange {
	message_id: string;
	question: string;
	answer: string;
}

export interface ContextMemory {
	id: string;
	text: string;
}

export interface ContextPrompt {
	name: string;
	version: number;
	text: string | null;
}

export interface ContextSummary {
	id: string;
	level: number;
	text: string;
}

export interface ConversationChange {
	title?: string;
	is_archived?: boolean;
	is_pinned?: boolean;
	is_visible?: boolean;
	folder_id?: string | null;
	current_node?: string;
}

export interface ConversationDetail {
	conversation_id: string;
	title: string;
	create_time: number;
	update_time: number;
	current_node: string | null;
	is_archived: boolean;
	is_pinned: boolean;
	folder_id: string | null;
	is_temporary: boolean;
	mapping: Record<string, ConversationNode>;
	running: Running | null;
}

export interface ConversationMode {
	kind: 'primary_assistant';
}

export interface ConversationNode {
	id: string;
	parent: string | null;
	children: string[];
	message: Message;
}

export interface ConversationPage {
	items: ConversationSummary[];
	total: number;
	limit: number;
	offset: number;
}

export interface ConversationRestored {
	kind: 'ConversationRestored';
	conversation_id: string;
}

export interface ConversationSummary {
	id: string;
	title: string;
	create_time: number;
	update_time: number;
	is_archived: boolean;
	is_pinned: boolean;
	folder_id: string | null;
	snippet?: string;
	message_id?: string;
}

export interface ConversationsDeleted {
	kind: 'ConversationsDeleted';
	num_conversations: number;
	conversation_id: string | null;
}

export interface CreatedInvite {
	id: string;
	role: 'admin' | 'member' | 'reviewer';
	expires_at: number;
	token: string;
	path: string;
}

export interface CreatedKey {
	id: string;
	prefix: string;
	label: string;
	scopes: ('admin' | 'chat' | 'memory' | 'read')[];
	expires_at: number | null;
	key: string;
}

export interface CreatedReset {
	path: string;
	expires_at: number;
}

export interface CreatedVersion {
	name: string;
	version: number;
}

export interface CrisisLine {
	name: string;
	call: string;
	text: string;
}

export interface DataExported {
	kind: 'DataExported';
	content: 'account' | 'activity log' | 'memories' | 'reviews';
}

export interface DataImported {
	kind: 'DataImported';
	num_conversations: number;
}

export interface DayUsage {
	num_turns: number;
	num_input_tokens: number;
	num_cached_tokens: number;
	num_output_tokens: number;
	cost: number | null;
	day: string;
}

export interface Delta {
	p?: string;
	o?: Op;
	v?: unknown;
	c?: number;
}

export interface Difference {
	version: number;
	measure: Measure;
	low: number;
	high: number;
	verdict: 'better' | 'less' | 'more' | 'unclear' | 'worse';
}

export interface Download {
	name: string;
	num_done_bytes: number;
	num_bytes: number;
	problem: string | null;
}

export interface EarlierChange {
	kind: 'EarlierChange';
	action: string;
	subject: string;
	detail: Record<string, string>;
}

export interface EntriesExpired {
	kind: 'EntriesExpired';
	through: number;
	hash: string;
}

export interface Envelope {
	message: Message | null;
	conversation_id: string;
	error: Problem | null;
}

export interface ErrorBody {
	error: Problem;
	detail?: string;
	request_id?: string;
}

export interface ErrorCount {
	name: string;
	where: string;
	count: number;
	last_at: number;
}

export interface Experiment {
	id: string;
	prompt: string;
	versions: number[];
	started_at: number;
	ended_at: number | null;
	winner: number | null;
}

export interface ExperimentEnded {
	kind: 'ExperimentEnded';
	experiment_id: string;
	prompt: string;
	winner: number | null;
}

export interface ExperimentReport {
	experiment: Experiment;
	outcome: Outcome;
}

export interface ExperimentStarted {
	kind: 'ExperimentStarted';
	experiment_id: string;
	prompt: string;
	versions: number[];
}

export interface Failure {
	message: string;
	type: string;
	code: string;
	param: string | null;
	retryable: boolean;
	retry_after_ms: number | null;
}

export interface Feature {
	name: string;
	title: string;
	tools: FeatureTool[];
}

export interface FeatureTool {
	name: string;
	description: string;
	effect: 'changes' | 'reads' | 'writes';
}

export interface Features {
	features: Feature[];
	missing: MissingFeature[];
}

export interface Feedback {
	rating: 'down' | 'up';
	reason: Reason | null;
	text: string;
}

export interface FinishDetails {
	type: 'content_filter' | 'failed' | 'interrupted' | 'max_tokens' | 'stop' | 'tool_calls';
	reason: Ending;
	message?: string;
}

export interface FirstAccountCheck {
	needs_first_account: boolean;
	needs_setup_token: boolean;
	is_database_lost: boolean;
	version: string;
}

export interface Folder {
	id: string;
	name: string;
	num_conversations: number;
}

export interface Group {
	id: string;
	name: string;
	num_people: number;
	features: string[] | null;
}

export interface GroupCreated {
	kind: 'GroupCreated';
	group_id: string;
	group: string;
}

export interface GroupDeleted {
	kind: 'GroupDeleted';
	group_id: string;
	group: string;
}

export interface GroupFeaturesChanged {
	kind: 'GroupFeaturesChanged';
	group_id: string;
	group: string;
	before: string[] | null;
	after: string[] | null;
}

export interface GroupJoined {
	kind: 'GroupJoined';
	user_id: string;
	group_id: string;
	group: string;
}

export interface GroupLeft {
	kind: 'GroupLeft';
	user_id: string;
}

export interface GroupRenamed {
	kind: 'GroupRenamed';
	group_id: string;
	before: string;
	group: string;
}

export interface GroupUsage {
	num_turns: number;
	num_input_tokens: number;
	num_cached_tokens: number;
	num_output_tokens: number;
	cost: number | null;
	group_id: string;
	name: string | null;
}

export interface Help {
	country: string;
	emergency: string;
	lines: CrisisLine[];
	directory: string;
}

export interface ImportReport {
	source: 'chatgpt' | 'hitsend' | 'open_webui';
	num_conversations: number;
	num_messages: number;
	num_already_here: number;
	left_out: LeftOut[];
	num_parts_left_out: PartsLeftOut;
}

export interface InputMessage {
	type: 'input_message';
	input_message: Message;
	conversation_id: string;
}

export interface Invite {
	id: string;
	role: 'admin' | 'member' | 'reviewer';
	created_by: string;
	created_at: number;
	expires_at: number;
	used_by: string | null;
}

export interface InviteCreated {
	kind: 'InviteCreated';
	invite_id: string;
	role: 'admin' | 'member' | 'reviewer';
}

export interface InviteRevoked {
	kind: 'InviteRevoked';
	invite_id: string;
}

export interface Items {
	items: unknown[];
}

export interface KeyCreated {
	kind: 'KeyCreated';
	user_id: string;
	key_id: string;
	prefix: string;
	scopes: ('admin' | 'chat' | 'memory' | 'read')[];
}

export interface KeyDeleted {
	kind: 'KeyDeleted';
	user_id: string;
	key_id: string;
	prefix: string;
}

export interface KeyItem {
	id: string;
	user_id: string;
	user_name: string;
	label: string;
}

export interface LatencyReport {
	models: ModelLatency[];
	errors: ErrorCount[];
}

export interface LeftOut {
	title: string;
	why: string;
}

export interface Limit {
	requests_per_minute: number | null;
	tokens_per_minute: number | null;
	tokens_per_day: number | null;
	storage_mb: number | null;
}

export interface LimitChanged {
	kind: 'LimitChanged';
	scope: LimitScope;
	target: string;
	before: Limit | null;
	after: Limit | null;
	user_id: string | null;
}

export interface LimitItem {
	scope: LimitScope;
	target: string;
	target_name: string;
	requests_per_minute: number | null;
	tokens_per_minute: number | null;
	tokens_per_day: number | null;
	storage_mb: number | null;
}

export interface LimitList {
	items: LimitItem[];
	keys: KeyItem[];
}

export type LimitScope = 'everyone' | 'group' | 'user' | 'key' | 'address';

export interface LogLine {
	at: number;
	source: string;
	text: string;
}

export interface McpCall {
	tool: string;
	user: string;
	at: number;
	took_ms: number;
	outcome: CallOutcome;
	num_chars: number;
}

export type McpCondition = 'off' | 'unused' | 'connecting' | 'connected' | 'no_tools' | 'sign_in' | 'failed';

export interface McpPrompt {
	name: string;
	title: string;
	description: string;
	arguments: McpPromptArgument[];
}

export interface McpPromptArgument {
	name: string;
	description: string;
	is_required: boolean;
}

export interface McpResource {
	uri: string;
	name: string;
	description: string;
	media_type: string;
	variables: McpVariable[];
}

export interface McpResourceText {
	uri: string;
	text: string;
}

export interface McpServerAdded {
	kind: 'McpServerAdded';
	server_id: string;
	server: string;
	server_kind: 'command' | 'http';
	audience: Audience;
}

export interface McpServerChanged {
	kind: 'McpServerChanged';
	server_id: string;
	server: string;
	fields: string[];
	audience: Audience;
}

export interface McpServerDeleted {
	kind: 'McpServerDeleted';
	server_id: string;
	server: string;
}

export interface McpServerItem {
	id: string;
	title: string;
	kind: 'command' | 'http';
	audience: Audience;
	group_ids: string[];
	feature: string;
	url: string;
	command: string[];
	environment: string[];
	headers: string[];
	client_id: string;
	is_on: boolean;
	timeout_s: number;
	may_use: boolean;
	may_manage: boolean;
	can_mark_read_only: boolean;
	is_signed_in: boolean;
	status: McpStatus;
	tools: McpToolItem[];
	num_tokens: number;
}

export interface McpServerList {
	items: McpServerItem[];
	can_add: boolean;
	can_add_commands: boolean;
	can_share: boolean;
}

export interface McpSignIn {
	url: string;
}

export interface McpSignedIn {
	kind: 'McpSignedIn';
	server_id: string;
	server: string;
}

export interface McpSignedOut {
	kind: 'McpSignedOut';
	server_id: string;
}

export interface McpSource {
	id: string;
	title: string;
	prefix: string;
	may_have_resources: boolean;
	may_have_prompts: boolean;
}

export interface McpStatus {
	condition: McpCondition;
	problem: string;
	retry_in_s: number | null;
	version: string;
}

export interface McpText {
	text: string;
}

export interface McpToolChanged {
	kind: 'McpToolChanged';
	server_id: string;
	tool: string;
	is_on: boolean;
	is_read_only: boolean;
	is_confirmed: boolean;
}

export interface McpToolItem {
	name: string;
	full_name: string;
	title: string;
	description: string;
	schema: string;
	is_on: boolean;
	is_usable: boolean;
	is_new: boolean;
	is_missing: boolean;
	is_read_only: boolean;
	is_read_only_hint: boolean;
	problem: string;
	changed_description: string | null;
	changed_schema: string | null;
	changed_problem: string;
	changed_digest: string | null;
}

export interface McpVariable {
	name: string;
	is_required: boolean;
}

export interface Me {
	user: User;
	csrf_token: string | null;
	needs_second_factor: boolean;
}

export interface Mean {
	value: number;
	low: number | null;
	high: number | null;
	num_people: number;
}

export type Measure = 'liked' | 'declined' | 'answer_tokens' | 'input_tokens' | 'first_word_ms' | 'seconds';

export interface MemoriesDeleted {
	kind: 'MemoriesDeleted';
}

export interface Memory {
	id: string;
	text: string;
	origin: 'asked' | 'suggested' | 'written';
	conversation_id: string | null;
	is_suggested: boolean;
	created_at: number;
	updated_at: number;
	is_shown: boolean;
}

export interface MemoryPage {
	items: Memory[];
	total: number;
}

export interface Message {
	id: string;
	author: Author;
	create_time: number | null;
	update_time: null;
	content: Content;
	status: 'failed' | 'finished_partial_completion' | 'finished_successfully' | 'in_progress';
	end_turn: boolean | null;
	weight: number;
	metadata: Metadata;
	recipient: 'all';
	channel: 'final' | null;
}

export interface MessageContext {
	prompts: ContextPrompt[];
	profile: string;
	memories: ContextMemory[];
	summaries: ContextSummary[];
	recalled: ContextExchange[];
	starts_at: string | null;
	num_dropped_messages: number;
	sections: Section[];
}

export interface MessageFrame {
	type: 'message';
	topic_id: string;
	seq: number;
	n: number;
	redelivery: boolean;
	payload: TurnStream;
}

export interface MessageMarker {
	type: 'message_marker';
	conversation_id: string;
	message_id: string;
	marker: 'last_token' | 'user_visible_token';
	event: 'first' | 'last';
}

export interface Metadata {
	finish_details?: FinishDetails;
	is_complete?: boolean;
	token_count?: number;
	usage?: Usage;
	parent_id: string | null;
	turn_exchange_id?: string;
	model_slug?: string;
	tool_calls?: ToolCall[];
	tool_result?: ToolResult;
	thought?: Thought;
	attachments?: Attachment[];
	feedback?: Feedback;
	seen?: Seen;
	safety?: Screening;
	redactions?: Redaction[];
	is_visually_hidden_from_conversation?: boolean;
	seen_source?: Source;
	seen_ids?: string[];
}

export interface MissingFeature {
	name: string;
	settings: string[];
}

export interface Model {
	name: string;
	title: string;
	num_window_tokens: number;
	level: 'chat' | 'tokens';
	where: 'here' | 'remote';
	quantisation: string | null;
	weights_sha256: string | null;
	num_bytes: number | null;
	can_call_tools: boolean;
	is_default: boolean;
	good_at: Strength[];
	has_next_token_probs: boolean;
	has_room_beside: boolean;
	default_sampling?: Sampling;
	is_exact: boolean | null;
	num_tokens_per_s: number | null;
}

export interface ModelLatency {
	model: string;
	server: TimingSummary;
	browsers: TimingSummary;
}

export interface ModelList {
	models: Model[];
	default_model: string | null;
	offers: Offer[];
}

export interface ModelPulled {
	kind: 'ModelPulled';
	model: string;
}

export interface ModelRemoved {
	kind: 'ModelRemoved';
	model: string;
}

export interface ModelUsage {
	num_turns: number;
	num_input_tokens: number;
	num_cached_tokens: number;
	num_output_tokens: number;
	cost: number | null;
	model: string;
}

export interface Moderation {
	type: 'moderation';
	conversation_id: string;
	message_id: string;
	stage: 'input' | 'output';
	moderation_response: ModerationResponse;
}

export interface ModerationResponse {
	flagged: boolean;
	blocked: boolean;
	categories: string[];
}

export interface Nack {
	type: 'nack';
	topic_id: string;
	from: number;
	to: number;
	reason: 'apply' | 'decode' | 'gap' | 'hash';
}

export interface NackFrame {
	type: 'nack';
	id: number | null;
	topic_id: string | null;
	error: CommandError;
}

export interface NewCommand {
	title: string;
	command: string[];
	environment?: Record<string, string>;
	audience?: Audience;
	group_ids?: string[];
	timeout_s?: number;
}

export interface NewKey {
	label?: string;
	scopes?: ('admin' | 'chat' | 'memory' | 'read')[];
	days?: number | null;
}

export interface NewPrice {
	input: number;
	cached: number;
	output: number;
}

export interface NewServer {
	title: string;
	url: string;
	headers?: Record<string, string>;
	client_id?: string;
	client_secret?: string;
	audience?: Audience;
	group_ids?: string[];
	timeout_s?: number;
}

export type News =
	| TurnBegan
	| TurnEnded
	| TitleChanged;

export interface NewsFrame {
	type: 'news';
	news: News;
}

export interface Offer {
	name: string;
	title: string;
	num_bytes: number;
	num_window_tokens: number;
	quantisation: string;
	good_at: Strength[];
	is_here: boolean;
}

export type Op = 'add' | 'remove' | 'replace' | 'append' | 'patch' | 'truncate';

export interface OpenReviews {
	num_open: number;
}

export interface Outcome {
	variants: Variant[];
	differences: Difference[];
	min_people: number;
}

export interface OutcomeCount {
	day: number;
	stage: 'answer' | 'document' | 'prompt';
	outcome: SafetyOutcome;
	category: string | null;
	model: string;
	prompt_version: number | null;
	num: number;
	num_incomplete: number;
	mean_score: number | null;
	mean_ms: number;
	most_ms: number;
}

export interface OwnReview {
	message_id: string;
	appealed_at: number | null;
	decision: ReviewDecision | null;
	note: string;
	decided_at: number | null;
}

export interface PageError {
	name: string;
	where: string;
	line?: number;
	build?: string;
	count?: number;
}

export interface PageLatency {
	model: string;
	server_request_id?: string;
	preflight_time_ms?: number | null;
	count_tokens?: number | null;
	ts_first_token_ms?: number | null;
	ts_max_token_time_ms?: number | null;
	ts_mean?: number | null;
	ts_median?: number | null;
	ts_min?: number | null;
	ts_p95?: number | null;
	ts_p99?: number | null;
	ts_total_request_ms?: number | null;
}

export interface PartsLeftOut {
	images: number;
	files: number;
	tools: number;
	other: number;
}

export interface PasskeyItem {
	id: string;
	name: string;
	host: string;
	works_here: boolean;
	created_at: number;
	last_used_at: number | null;
}

export interface PasskeySetup {
	options: Record<string, unknown>;
	token: string;
}

export interface PasswordChanged {
	kind: 'PasswordChanged';
	user_id: string;
}

export interface PasswordReset {
	kind: 'PasswordReset';
	user_id: string;
	method: 'command line' | 'link';
}

export interface Percentiles {
	p50: number | null;
	p95: number | null;
	count: number;
}

export interface Person {
	id: string;
	name: string;
	role: 'admin' | 'member' | 'reviewer';
	create_time: number;
	is_disabled: boolean;
	last_seen_time: number | null;
	num_conversations: number;
	group_id: string | null;
	num_bytes: number;
}

export interface PersonChange {
	role?: 'admin' | 'member' | 'reviewer';
	is_disabled?: boolean;
	group_id?: string | null;
}

export interface PersonUsage {
	num_turns: number;
	num_input_tokens: number;
	num_cached_tokens: number;
	num_output_tokens: number;
	cost: number | null;
	user_id: string;
	name: string | null;
}

export interface PingFrame {
	type: 'ping';
	t: number;
}

export interface Pong {
	type: 'pong';
	t?: number | null;
}

export interface Presence {
	type: 'presence';
	state?: 'background' | 'foreground';
}

export interface PrewarmReply {
	status: 'ok' | 'skipped';
	conduit_token: string | null;
	warmup_state: 'cold' | 'warm' | 'warming';
	num_tokens: number | null;
	num_window_tokens: number | null;
	num_dropped_messages: number | null;
	is_exact: boolean | null;
}

export interface Price {
	model: string;
	input: number;
	cached: number;
	output: number;
}

export interface PriceChanged {
	kind: 'PriceChanged';
	model: string;
	after: Price | null;
}

export interface PriceList {
	currency: string;
	items: Price[];
}

export interface Problem {
	message: string;
	type: string;
	param: string | null;
	code: string;
}

export interface Profile {
	call_me: string;
	about_me: string;
	style: string;
	is_on: boolean;
	uses_memory: boolean;
	suggests_memories: boolean;
}

export interface Prompt {
	name: string;
	about: string;
	slots: Slot[];
	is_in_chat: boolean;
	is_decoded: boolean;
	shipped: PromptText;
	versions: PromptVersion[];
	active: number;
	misfits: Record<number, string>;
	sampling: Sampling | null;
	experiment: RunningExperiment | null;
}

export interface PromptActivated {
	kind: 'PromptActivated';
	prompt: string;
	version: number | null;
}

export interface PromptChoice {
	version?: number | null;
	sampling?: Partial<Sampling> | null;
}

export interface PromptSamplingChanged {
	kind: 'PromptSamplingChanged';
	prompt: string;
	sampling: Record<string, unknown> | null;
}

export interface PromptText {
	name: string;
	version: number;
	template: string;
	slots: Slot[];
	sampling: Sampling;
	families: Record<string, string>;
	about: string;
	is_in_chat: boolean;
	is_decoded: boolean;
}

export interface PromptVersion {
	name: string;
	version: number;
	template: string;
	note: string;
	created_by: string | null;
	created_at: number;
}

export interface PromptWritten {
	kind: 'PromptWritten';
	prompt: string;
	version: number;
}

export interface ProofOfWork {
	required: boolean;
	seed: string;
	difficulty: string;
}

export interface ProofToken {
	persona: string;
	token: string;
	expire_after: number;
	expire_at: number;
}

export const ROOT = 'client-created-root';

export type Reason = 'wrong' | 'not_helpful' | 'unsafe' | 'style' | 'other';

export interface RecoveryCodeUsed {
	kind: 'RecoveryCodeUsed';
	user_id: string;
}

export interface RecoveryCodes {
	recovery_codes: string[] | null;
}

export interface RecoveryCodesReplaced {
	kind: 'RecoveryCodesReplaced';
	user_id: string;
}

export interface RemainingDayLimit {
	limit: number | null;
	remaining: number | null;
	reset_ms: number | null;
	reset_at: number | null;
}

export interface RemainingGroupLimit {
	name: string;
	tokens_day: RemainingDayLimit;
}

export interface RemainingLimit {
	limit: number | null;
	remaining: number | null;
	reset_ms: number | null;
}

export interface RemainingLimits {
	requests: RemainingLimit;
	tokens_minute: RemainingLimit;
	tokens_day: RemainingDayLimit;
	group: RemainingGroupLimit | null;
}

export interface RenderedMessage {
	role: Role;
	text: string;
}

export interface RenderedPrompt {
	text: string;
	messages: RenderedMessage[];
}

export interface ReplyFrame {
	type: 'reply';
	id: number;
	reply: unknown;
	ok: boolean;
}

export interface Reset {
	id: string;
	made_by: string;
	created_at: number;
	expires_at: number;
	used_at: number | null;
	seen_at: number | null;
}

export interface ResetCheck {
	name: string;
	num_keys: number;
}

export interface ResetLinkCreated {
	kind: 'ResetLinkCreated';
	user_id: string;
}

export interface ResumeBody {
	conversation_id: string;
	offset?: number;
	turn_exchange_id?: string | null;
	mode?: 'compact' | null;
}

export interface ResumeToken {
	type: 'resume_conversation_token';
	token: string;
	conversation_id: string;
	turn_exchange_id: string;
	expires_at: number;
	kind: 'topic';
}

export interface Review {
	id: string;
	user: string;
	cause: ReviewCause;
	screening: Screening | null;
	model: string;
	created_at: number;
	appeal: string;
	appealed_at: number | null;
	decision: ReviewDecision | null;
	note: string;
	decided_by: string | null;
	decided_at: number | null;
}

export type ReviewCause = 'checks' | 'report' | 'appeal';

export interface ReviewDecided {
	kind: 'ReviewDecided';
	user_id: string;
	review_id: string;
	decision: string;
}

export type ReviewDecision = 'uphold' | 'allow';

export interface ReviewWithContext {
	review: Review;
	messages: ReviewedMessage[];
}

export interface ReviewedMessage {
	role: string;
	text: string;
	is_reviewed: boolean;
}

export interface RoleChanged {
	kind: 'RoleChanged';
	user_id: string;
	role: 'admin' | 'member' | 'reviewer';
}

export interface Running {
	turn_exchange_id: string;
	message_id: string;
}

export interface RunningExperiment {
	id: string;
	versions: number[];
}

export const SUBPROTOCOL = 'hitsend.v1';

export type SafetyAction = 'allow' | 'caution' | 'review' | 'block';

export type SafetyConcern = 'harassment' | 'harassment/threatening' | 'hate' | 'hate/threatening' | 'illicit' | 'illicit/violent' | 'self-harm' | 'self-harm/intent' | 'self-harm/instructions' | 'sexual' | 'sexual/minors' | 'violence' | 'violence/graphic' | 'jailbreak' | 'injection';

export type SafetyHead = 'harm' | 'jailbreak' | 'injection' | 'answer harm' | 'refusal' | 'harassment' | 'harassment/threatening' | 'hate' | 'hate/threatening' | 'illicit' | 'illicit/violent' | 'self-harm' | 'self-harm/intent' | 'self-harm/instructions' | 'sexual' | 'sexual/minors' | 'violence' | 'violence/graphic';

export interface SafetyPolicy {
	actions: Partial<Record<SafetyConcern, SafetyAction>>;
	unsure: SafetyAction;
	uses_judge: boolean;
	redacted: PersonalDataKind[];
	watches_answers: boolean;
	holds_sentences: boolean;
	fails_closed: ('api' | 'chat')[];
	reviews_blocks: boolean;
	allowed: string[];
	denied: string[];
}

export interface SafetyPolicyChanged {
	kind: 'SafetyPolicyChanged';
	scope: string;
	group: string;
	policy: Record<string, unknown> | null;
}

export interface SafetyState {
	is_on: boolean;
	has_classifier: boolean;
	shipped: SafetyPolicy;
	changed: Record<string, VersionedPolicy>;
}

export interface SecondFactorAdded {
	kind: 'SecondFactorAdded';
	user_id: string;
	factor: 'authenticator' | 'passkey';
}

export interface SecondFactorRemoved {
	kind: 'SecondFactorRemoved';
	user_id: string;
	factor: 'all' | 'authenticator' | 'passkey';
}

export interface SecondFactorStatus {
	authenticator: AuthenticatorItem | null;
	passkeys: PasskeyItem[];
	num_recovery_codes: number;
	host: string | null;
	is_required: boolean;
}

export interface SecondStep {
	methods: ('authenticator' | 'passkey' | 'recovery_code')[];
	passkey_options: Record<string, unknown> | null;
	other_hosts: string[];
}

export interface SendBody {
	action: Action;
	messages?: SendBodyMessage[];
	conversation_id?: string | null;
	parent_message_id?: string;
	model?: string;
	sampling?: Partial<Sampling>;
	supported_encodings?: string[];
	history_and_training_disabled?: boolean;
	conversation_mode?: ConversationMode | null;
	client_prepare_state?: string | null;
	supports_buffering?: boolean;
	system_hints?: string[] | null;
	verdicts?: CallVerdict[];
	timezone?: string | null;
	timezone_offset_min?: number | null;
}

export interface SendBodyAttachment {
	title: string;
	server: string;
	uri: string;
	text: string;
}

export interface SendBodyAuthor {
	role: 'user';
	name?: string | null;
	metadata?: Record<string, unknown>;
}

export interface SendBodyContent {
	content_type: 'text';
	parts: string[];
}

export interface SendBodyMessage {
	id: string;
	author: SendBodyAuthor;
	content: SendBodyContent;
	create_time?: number | null;
	metadata?: Record<string, unknown>;
	attachments?: SendBodyAttachment[];
}

export interface SendCommand {
	type: 'send';
	client_msg_id: string;
	body: unknown;
	conduit_token?: string | null;
	sentinel_token?: string | null;
	device_id?: string | null;
}

export interface ServerChange {
	title?: string;
	url?: string;
	headers?: Record<string, string>;
	client_id?: string;
	client_secret?: string;
	is_on?: boolean;
	audience?: Audience;
	group_ids?: string[];
	timeout_s?: number;
}

export type ServerFrame =
	| MessageFrame
	| SnapshotFrame
	| ReplyFrame
	| NackFrame
	| NewsFrame
	| PingFrame;

export interface ServerMetadata {
	type: 'server_ste_metadata';
	metadata: TurnMetadata;
	conversation_id: string;
}

export interface ServerRules {
	instructions: string;
	max_message_chars: number;
	max_answer_tokens: number;
	num_window_tokens: number;
	max_import_bytes: number;
	session_days: number;
	allow_sharing: boolean;
}

export interface ShareCreated {
	kind: 'ShareCreated';
	conversation_id: string;
}

export interface ShareLink {
	id: string;
	path: string;
	title: string;
	conversation_id: string;
	create_time: number;
}

export interface ShareRevoked {
	kind: 'ShareRevoked';
	conversation_id: string;
}

export interface SharedConversation {
	title: string;
	create_time: number;
	messages: Message[];
}

export type SideEvent =
	| InputMessage
	| MessageMarker
	| AnswerDelayed
	| StoreDelayed
	| Moderation
	| TitleGeneration
	| ServerMetadata
	| StreamError
	| StreamComplete
	| ResumeToken
	| StreamResumed
	| StreamSnapshot;

export interface SignInFailed {
	kind: 'SignInFailed';
	user_id: string | null;
	num_tries: number;
}

export interface SignedIn {
	kind: 'SignedIn';
	user_id: string;
	method: 'first account' | 'invite' | 'password';
	second_factor: 'authenticator' | 'passkey' | 'recovery_code' | null;
}

export interface SignedOut {
	kind: 'SignedOut';
	user_id: string;
	session_id: string;
}

export interface Slot {
	name: string;
	kind: 'data' | 'flag' | 'list' | 'text';
	is_required: boolean;
	about: string;
	label: string;
	sample: string | string[] | boolean;
}

export interface SnapshotFrame {
	type: 'snapshot';
	topic_id: string;
	seq: number;
	channels: Record<string, Envelope>;
	carry: Carry;
}

export interface SocketTicket {
	websocket_url: string;
	expires_at: number;
}

export interface Spending {
	currency: string;
	days: DayUsage[];
	models: ModelUsage[];
	total: TokenUsage;
}

export interface SpendingOfEveryone {
	currency: string;
	days: DayUsage[];
	models: ModelUsage[];
	total: TokenUsage;
	people: PersonUsage[];
	groups: GroupUsage[];
}

export interface Status {
	state: 'down' | 'ready' | 'restarting' | 'starting';
	detail: string;
	num_busy_slots: number;
	num_slots: number;
	num_waiting: number;
	downloads: Download[];
	first_token_s: number | null;
	model: string | null;
	store: 'database_damaged' | 'disk_full' | 'ready' | 'store_down';
}

export interface Stop {
	type: 'stop';
	topic_id: string;
}

export interface StorageUse {
	used_bytes: number;
	limit_bytes: number | null;
}

export interface StoreDelayed {
	type: 'store_delayed';
	code: string;
	message: string;
}

export interface StreamComplete {
	type: 'message_stream_complete';
	conversation_id: string;
	turn_exchange_id: string;
	last_seq: number;
	status: 'failed' | 'finished_partial_completion' | 'finished_successfully' | 'interrupted';
	messages: Checksum[];
	has_afterword?: boolean;
}

export interface StreamError {
	type: 'error';
	error: Failure;
	conversation_id: string;
	message_id: string | null;
}

export interface StreamItem {
	type: 'stream-item';
	conversation_id: string;
	turn_id: string;
	encoded_item: string;
}

export interface StreamResumed {
	type: 'stream_resumed';
	conversation_id: string;
	turn_exchange_id: string;
	from: number;
	carry: Carry;
}

export interface StreamSnapshot {
	type: 'stream_snapshot';
	conversation_id: string;
	turn_exchange_id: string;
	seq: number;
	channels: Record<string, Envelope>;
	carry: Carry;
}

export type Strength = 'code' | 'conversation' | 'short_answers' | 'tools' | 'writing';

export interface Subscribe {
	type: 'subscribe';
	topic_id: string;
	offset?: string;
	token?: string | null;
	mode?: 'compact' | null;
}

export interface SubscribeReply {
	topic_id: string;
	first_seq: number;
	last_seq: number;
	catchups: unknown[];
	carry: Carry;
}

export interface TelemetryReply {
	status: 'off' | 'success';
}

export interface TimingSummary {
	first_token_ms: Percentiles;
	token_ms: Percentiles;
}

export interface TitleChanged {
	type: 'title_changed';
	conversation_id: string;
	title: string;
}

export interface TitleGeneration {
	type: 'title_generation';
	title: string;
	conversation_id: string;
	revision: number;
}

export interface TokenUsage {
	num_turns: number;
	num_input_tokens: number;
	num_cached_tokens: number;
	num_output_tokens: number;
	cost: number | null;
}

export interface Tokenized {
	model: string;
	num_tokens: number;
	num_characters: number;
	num_bytes: number;
	ids: number[];
	pieces: (string | null)[];
	bytes: (string | null)[];
	spans: Span[];
}

export interface ToolChange {
	name: string;
	is_on?: boolean | null;
	is_read_only?: boolean | null;
	confirmed_digest?: string | null;
}

export interface ToolFile {
	name: string;
	media_type: string;
	content: string;
}

export interface ToolPermission {
	id: string;
	tool: string;
	server: string;
	conversation_id: string | null;
	created_at: number;
}

export interface TriedResult {
	prompt: Screening;
	document: Screening;
	answer: Screening;
	verdict: Verdict | null;
	redacted: string;
	redactions: Redaction[];
}

export interface TurnBegan {
	type: 'turn_began';
	conversation_id: string;
	turn_exchange_id: string;
	topic_id: string;
}

export interface TurnEnded {
	type: 'turn_ended';
	conversation_id: string;
	turn_exchange_id: string;
	topic_id: string;
}

export interface TurnLog {
	turn_exchange_id: string;
	events: Stamped[];
}

export interface TurnMetadata {
	model_slug: string;
	is_first_turn: boolean;
	turn_exchange_id: string;
	message_id: string | null;
	usage: Usage | null;
	ttft_ms: number | null;
	sampling: Record<string, unknown>;
	conduit_prewarmed: boolean;
	warmup_state: 'cold' | 'warm' | 'warming';
	saved_ms: number | null;
	resume_with_websockets: boolean;
	request_id?: string;
	turn_trace_id?: string;
	cluster_region?: string;
}

export interface TurnStream {
	type: 'conversation-turn-stream';
	payload: StreamItem;
}

export interface TurnstileRequirement {
	required: boolean;
}

export interface Unsubscribe {
	type: 'unsubscribe';
	topic_id: string;
}

export interface User {
	id: string;
	name: string;
	role: 'admin' | 'member' | 'reviewer';
}

export interface Variant {
	version: number;
	num_people: number;
	num_turns: number;
	num_up: number;
	num_down: number;
	num_declined: number;
	means: Partial<Record<Measure, Mean>>;
}

export interface Verdict {
	scores: Partial<Record<SafetyHead, number>>;
	decisions: Partial<Record<SafetyHead, 'ask' | 'block' | 'pass'>>;
	num_windows: number;
	is_complete: boolean;
}

export interface VersionedPolicy {
	policy: SafetyPolicy;
	version: number | null;
}

export interface WindowSize {
	items: number;
	bytes: number;
}
