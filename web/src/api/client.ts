/** Every call the page makes to /backend-api, as one method each. `http.ts` does the requests. */
import { ApiError, HttpClient, readJson, TimedOut, Unreachable, type RequestOptions } from './http';
import type { TurnSocket } from './socket';
import type { FormAction } from './events.gen';
import type * as wire from './wire';

const SECOND_FACTOR = 'me/second-factor';
const TOOL_SERVERS = 'mcp/servers';

export class Api extends HttpClient {
	/** Turns can also be followed over this socket while it is open. */
	socket: TurnSocket | null = null;
	/** Extra headers of a Send. */
	sendHeaders: (body: wire.SendBody) => Record<string, string> = () => ({});
	/** Called with the response headers of a Send that the server accepted. */
	onsent: (body: wire.SendBody, headers: Headers) => void = () => undefined;
	/** Does the proof of work that the server asks for before it accepts a Send. */
	prove: (signal: AbortSignal) => Promise<void> = () => Promise.resolve();
	/** Aborts telemetry that would keep a Send waiting. */
	#telemetry = new AbortController();

	checkFirstAccount = () => this.requestJson<wire.FirstAccountCheck>('GET', 'accounts/check');
	createFirstAccount = (name: string, password: string, setupToken: string) =>
		this.#signIn('accounts/first', { name, password, setup_token: setupToken });
	/** Returns the second step where the password alone signs nobody in. */
	signIn = async (name: string, password: string): Promise<wire.Me | wire.SecondStep> => {
		const body = { name, password };
		const response = await this.rawRequest('POST', 'accounts/sign-in', { body });
		if (response.status === 202) return readJson<wire.SecondStep>(response);
		return this.#useSession(await readJson(response));
	};
	finishSignIn = (proof: wire.SecondFactorProof) =>
		this.#signIn('accounts/sign-in/second-factor', proof);
	signUp = (invite: string, name: string, password: string) =>
		this.#signIn('accounts/sign-up', { invite, name, password });
	checkResetLink = (token: string) =>
		this.requestJson<wire.ResetCheck>('POST', 'accounts/reset/check', { token });
	resetPassword = (token: string, password: string, revokesKeys: boolean) =>
		this.change('POST', 'accounts/reset', { token, password, revokes_keys: revokesKeys });
	signOut = () => this.change('POST', 'accounts/sign-out');

	rename = async (name: string) =>
		(await this.requestJson<Pick<wire.Me, 'user'>>('PATCH', 'me', { name })).user;
	changePassword = (current: string, next: string, revokesKeys: boolean) =>
		this.change('POST', 'me/password', { current, new: next, revokes_keys: revokesKeys });
	/** Afterwards, what asks for the password is allowed for ten minutes. */
	confirmPassword = (password: string) => this.change('POST', 'me/confirm', { password });
	getSecondFactor = () => this.requestJson<wire.SecondFactorStatus>('GET', SECOND_FACTOR);
	setUpAuthenticator = () =>
		this.requestJson<wire.AuthenticatorSetup>('POST', `${SECOND_FACTOR}/authenticator/setup`);
	/** Returns recovery codes with the first factor, and null with further ones. */
	setAuthenticator = (token: string, code: string) =>
		this.#requestCodes('PUT', 'authenticator', { token, code });
	removeAuthenticator = () => this.change('DELETE', `${SECOND_FACTOR}/authenticator`);
	setUpPasskey = () =>
		this.requestJson<wire.PasskeySetup>('POST', `${SECOND_FACTOR}/passkeys/setup`);
	addPasskey = (token: string, name: string, credential: unknown) =>
		this.#requestCodes('POST', 'passkeys', { token, name, credential });
	removePasskey = (id: string) => this.change('DELETE', `${SECOND_FACTOR}/passkeys/${id}`);
	replaceRecoveryCodes = () => this.#requestCodes('POST', 'recovery-codes');
	turnOffSecondFactor = () => this.change('DELETE', SECOND_FACTOR);
	deleteAccount = (password: string) => this.change('DELETE', 'me', { password });
	listResets = () => this.requestItems<wire.Reset>('me/password-resets');
	markResetsSeen = () => this.change('POST', 'me/password-resets/seen');
	listSessions = () => this.requestItems<wire.BrowserSession>('sessions');
	endSession = (id: string) => this.change('DELETE', `sessions/${id}`);

	/** The person who is signed in, or null. */
	async getMe(): Promise<wire.Me | null> {
		const response = await this.rawRequest('GET', 'me');
		return response.status === 401 ? null : this.#useSession(await readJson(response));
	}

	listKeys = () => this.requestItems<wire.ApiKey>('keys');
	createKey = (key: wire.NewKey) => this.requestJson<wire.CreatedKey>('POST', 'keys', key);
	deleteKey = (id: string) => this.change('DELETE', `keys/${id}`);
	listInvites = () => this.requestItems<wire.Invite>('invites');
	createInvite = (role: wire.Invite['role']) =>
		this.requestJson<wire.CreatedInvite>('POST', 'invites', { role });
	deleteInvite = (id: string) => this.change('DELETE', `invites/${id}`);

	listPeople = () => this.requestItems<wire.Person>('people');
	changePerson = (id: string, change: wire.PersonChange) =>
		this.change('PATCH', `people/${id}`, change);
	createResetLink = (id: string) =>
		this.requestJson<wire.CreatedReset>('POST', `people/${id}/reset-password`);
	deletePerson = (id: string) => this.change('DELETE', `people/${id}`);

	listToolServers = () => this.requestJson<wire.McpServerList>('GET', TOOL_SERVERS);
	addToolServer = (server: wire.NewServer) =>
		this.requestJson<wire.McpServerItem>('POST', TOOL_SERVERS, server);
	addToolCommand = (command: wire.NewCommand) =>
		this.requestJson<wire.McpServerItem>('POST', 'mcp/commands', command);
	changeToolServer = (id: string, change: wire.ServerChange) =>
		this.requestJson<wire.McpServerItem>('PATCH', `${TOOL_SERVERS}/${id}`, change);
	changeToolCommand = (id: string, change: wire.CommandChange) =>
		this.requestJson<wire.McpServerItem>('PUT', `${TOOL_SERVERS}/${id}/command`, change);
	deleteToolServer = (id: string) => this.change('DELETE', `${TOOL_SERVERS}/${id}`);
	/** Connects anew, which may take a while: a program may have to be downloaded first. */
	testToolServer = (id: string) =>
		this.requestJson<wire.McpServerItem>('POST', `${TOOL_SERVERS}/${id}/test`);
	changeServerTool = (id: string, change: wire.ToolChange) =>
		this.requestJson<wire.McpServerItem>('PATCH', `${TOOL_SERVERS}/${id}/tools`, change);
	listServerCalls = (id: string) => this.requestItems<wire.McpCall>(`${TOOL_SERVERS}/${id}/calls`);
	getServerLog = (id: string) => this.requestItems<wire.LogLine>(`${TOOL_SERVERS}/${id}/log`);
	/** Returns the address to send the browser to. */
	beginServerSignIn = async (id: string) =>
		(await this.requestJson<wire.McpSignIn>('POST', `${TOOL_SERVERS}/${id}/sign-in`)).url;
	finishServerSignIn = (callback: Record<string, string>) =>
		this.requestJson<wire.McpServerItem>('POST', 'mcp/sign-in', callback);
	signOutOfServer = (id: string) => this.change('DELETE', `${TOOL_SERVERS}/${id}/sign-in`);

	listToolSources = () => this.requestItems<wire.McpSource>('mcp/sources');
	listServerResources = (id: string) =>
		this.requestItems<wire.McpResource>(`${TOOL_SERVERS}/${id}/resources`);
	/** `values` fill in the places of a template. */
	readServerResource = (id: string, uri: string, values?: Record<string, string>) =>
		this.requestJson<wire.McpResourceText>('POST', `${TOOL_SERVERS}/${id}/resources/read`, {
			uri,
			...(values === undefined ? {} : { values })
		});
	listServerPrompts = (id: string) =>
		this.requestItems<wire.McpPrompt>(`${TOOL_SERVERS}/${id}/prompts`);
	getServerPrompt = async (
		id: string,
		prompt: { name: string; arguments: Record<string, string> }
	) =>
		(await this.requestJson<wire.McpText>('POST', `${TOOL_SERVERS}/${id}/prompts/get`, prompt))
			.text;

	getRules = () => this.requestJson<wire.ServerRules>('GET', 'rules');
	getStatus = () => this.getWithTimeout<wire.Status>('status');
	listModels = () => this.getWithTimeout<wire.ModelList>('models');
	pullModel = (name: string) => this.change('POST', `models/${encodeURIComponent(name)}/pull`);
	removeModel = (name: string) => this.change('DELETE', `models/${encodeURIComponent(name)}`);

	listConversations = ({ offset, limit, ...which }: wire.ConversationQuery) => {
		const params = new URLSearchParams({ offset: String(offset), limit: String(limit) });
		for (const [name, value] of Object.entries(which)) {
			if (value !== undefined) params.set(name, String(value));
		}
		return this.requestJson<wire.ConversationPage>('GET', `conversations?${params}`);
	};
	getConversation = (id: string) =>
		this.requestJson<wire.ConversationDetail>('GET', `conversation/${id}`);
	changeConversation = (id: string, change: wire.ConversationChange) =>
		this.change('PATCH', `conversation/${id}`, change);

	listFolders = () => this.requestItems<wire.Folder>('folders');
	createFolder = (name: string) => this.requestJson<wire.Folder>('POST', 'folders', { name });
	renameFolder = (id: string, name: string) => this.change('PATCH', `folders/${id}`, { name });
	deleteFolder = (id: string) => this.change('DELETE', `folders/${id}`);

	rate = (conversationId: string, messageId: string, feedback: wire.Feedback) =>
		this.change('PUT', `conversation/${conversationId}/messages/${messageId}/feedback`, feedback);
	unrate = (conversationId: string, messageId: string) =>
		this.change('DELETE', `conversation/${conversationId}/messages/${messageId}/feedback`);

	share = (conversationId: string, leaf: string) =>
		this.requestJson<wire.ShareLink>('POST', `conversation/${conversationId}/shares`, {
			current_node: leaf
		});
	listShares = () => this.requestItems<wire.ShareLink>('shares');
	revokeShare = (id: string) => this.change('DELETE', `shares/${id}`);
	getShared = (id: string) =>
		this.requestJson<wire.SharedConversation>('GET', `share/${encodeURIComponent(id)}`);

	/** Uploads the file as it is. The server detects its format. */
	importFile = async (file: Blob, leaveOutBroken: boolean) => {
		const path = leaveOutBroken ? 'import?leave_out_broken=true' : 'import';
		return readJson<wire.ImportReport>(await this.request('POST', path, { file }));
	};
	/** Downloads everything of the person who is signed in. */
	readonly exportPath = '/backend-api/export';

	/** The memories that contain every word of `q`, newest first. */
	listMemories = (q: string, offset: number, limit: number) => {
		const params = new URLSearchParams({ q, offset: String(offset), limit: String(limit) });
		return this.requestJson<wire.MemoryPage>('GET', `memories?${params}`);
	};
	/** Leaves out ids that do not exist. */
	getMemories = async (ids: string[]) =>
		(await this.requestJson<wire.MemoryPage>('GET', `memories?ids=${ids.join(',')}`)).items;
	addMemory = (text: string) => this.requestJson<wire.Memory>('POST', 'memories', { text });
	changeMemory = (id: string, text: string) =>
		this.requestJson<wire.Memory>('PATCH', `memories/${id}`, { text });
	acceptMemory = (id: string) => this.requestJson<wire.Memory>('POST', `memories/${id}/accept`);
	/** `restoreMemory` undoes this for ten minutes. */
	removeMemory = (id: string) => this.change('DELETE', `memories/${id}`);
	restoreMemory = (id: string) => this.requestJson<wire.Memory>('POST', `memories/${id}/restore`);
	/** Deletes all memories. Cannot be undone. */
	clearMemories = () => this.change('DELETE', 'memories');
	readonly memoriesExportPath = '/backend-api/memories/export';
	getProfile = () => this.#requestProfile('GET');
	/** Changes only the given fields. */
	setProfile = (change: Partial<wire.Profile>, wipesMemories = false) =>
		this.#requestProfile('PUT', { ...change, ...(wipesMemories ? { wipes_memories: true } : {}) });
	/** What the model saw before it wrote this answer. */
	getContext = (conversationId: string, messageId: string) =>
		this.requestJson<wire.MessageContext>(
			'GET',
			`conversation/${conversationId}/message/${messageId}/context`
		);

	stop = (conversationId: string, turnId: string) =>
		this.change('POST', 'stop_conversation', {
			conversation_id: conversationId,
			turn_exchange_id: turnId
		});
	/** What can be turned on for a message. */
	listFeatures = async () => (await this.requestJson<wire.Features>('GET', 'tools')).features;
	listPermissions = () => this.requestItems<wire.ToolPermission>('tools/permissions');
	revokePermission = (id: string) => this.change('DELETE', `tools/permissions/${id}`);
	/** Decides about a call that a running answer waits for. */
	approveCall = (verdict: wire.CallVerdict) =>
		this.change('POST', 'f/conversation/approve', verdict);
	answerForm = (form_id: string, action: FormAction, content: wire.FormContent) =>
		this.change('POST', 'f/conversation/form', { form_id, action, content });
	/** Runs Python beside a conversation, as a stream: see `codeRuns.svelte.ts`. Aborting ends the program. */
	runCode = (
		conversationId: string,
		messageId: string,
		code: string,
		timezone: string,
		signal: AbortSignal
	) =>
		this.openStream('POST', `conversation/${conversationId}/run`, {
			body: { code, timezone, message_id: messageId, stream: true },
			signal
		});
	getTurn = (turnId: string) => this.requestJson<wire.TurnLog>('GET', `turn/${turnId}`);

	/**
	 * Sends a message, after a proof of work if the server requires one. The answer streams in the
	 * response body. Sending the same message id, or the same `key`, again streams the same turn.
	 */
	send = async (body: wire.SendBody, signal: AbortSignal, key: string | null = null) => {
		try {
			return await this.#post(body, signal, key);
		} catch (error) {
			if (!(error instanceof ApiError) || error.code !== 'proof_of_work_required') throw error;
			await this.prove(signal);
			return this.#post(body, signal, key);
		}
	};

	/** Streams a turn from the event after `after`. */
	follow = (turnId: string, after: number, signal: AbortSignal, hasAfterword = false) =>
		this.openStream(
			'GET',
			`f/conversation/${turnId}/events${hasAfterword ? '?afterword=true' : ''}`,
			{
				signal,
				headers: { 'last-event-id': String(after) }
			}
		);

	/** Streams a turn by the resume token that its stream sent. */
	resume = (body: wire.ResumeBody, token: string, signal: AbortSignal) =>
		this.openStream('POST', 'f/conversation/resume', {
			body,
			signal,
			headers: { 'x-conduit-token': token }
		});

	/** Returns an address that opens the socket once. */
	requestSocketTicket = () => this.getWithTimeout<wire.SocketTicket>('celsius/ws/user');

	/** Prefills the prompt up to this message, and counts its tokens. */
	prepare = (body: wire.SendBody, signal: AbortSignal) =>
		this.requestJson<wire.PrewarmReply>('POST', 'f/conversation/prepare', body, signal);
	complete = (body: wire.AutocompleteBody, signal: AbortSignal) =>
		this.requestJson<wire.Completions>(
			'POST',
			'conversation/experimental/generate_autocompletions',
			body,
			signal
		);

	tokenize = (body: { model: string; text: string }, signal: AbortSignal) =>
		this.requestJson<wire.Tokenized>('POST', 'tokenize', body, signal);

	requestChallenge = () =>
		this.requestJson<wire.ChatRequirements>('POST', 'sentinel/chat-requirements/prepare', {});
	submitProof = (prepare_token: string, proofofwork: string | null) =>
		this.requestJson<wire.ProofToken>('POST', 'sentinel/chat-requirements/finalize', {
			prepare_token,
			proofofwork
		});
	renewProof = async (token: string) => {
		const headers = { 'hitsend-sentinel-token': token };
		return readJson<wire.ProofToken>(await this.rawRequest('POST', 'sentinel/ping', { headers }));
	};

	getAllowance = () => this.requestJson<wire.RemainingLimits>('GET', 'limits/mine');
	getStorage = () => this.requestJson<wire.StorageUse>('GET', 'storage');
	listLimits = () => this.requestJson<wire.LimitList>('GET', 'limits');
	setLimit = (scope: wire.LimitScope, target: string, limit: wire.Limit) =>
		this.change('PUT', buildLimitPath(scope, target), limit);
	removeLimit = (scope: wire.LimitScope, target: string) =>
		this.change('DELETE', buildLimitPath(scope, target));
	listGroups = () => this.requestItems<wire.Group>('groups');
	createGroup = (name: string) => this.change('POST', 'groups', { name });
	renameGroup = (id: string, name: string) => this.change('PATCH', `groups/${id}`, { name });
	listAllFeatures = () => this.requestJson<wire.AllFeatures>('GET', 'groups/features');
	/** Null stands for all features that there are. */
	setGroupFeatures = (id: string, features: string[] | null) =>
		this.change('PUT', `groups/${id}/features`, { features });
	deleteGroup = (id: string) => this.change('DELETE', `groups/${id}`);
	getUsage = (days: number) => this.requestJson<wire.Spending>('GET', `usage?days=${days}`);
	getUsageOfEveryone = (days: number) =>
		this.requestJson<wire.SpendingOfEveryone>('GET', `usage/everyone?days=${days}`);
	listPrices = () => this.requestJson<wire.PriceList>('GET', 'prices');
	setPrice = (model: string, price: wire.NewPrice) =>
		this.change('PUT', `prices/${encodeURIComponent(model)}`, price);
	removePrice = (model: string) => this.change('DELETE', `prices/${encodeURIComponent(model)}`);
	getSpeeds = () => this.requestJson<wire.LatencyReport>('GET', 'latency');
	/** Entries of the activity log, the newest first, or those before a position. */
	listActivity = (filter: string, limit: number, before: number | null) => {
		const query = new URLSearchParams(filter);
		query.set('limit', String(limit));
		if (before !== null) query.set('before', String(before));
		return this.requestItems<wire.AuditEntry>(`admin/audit?${query}`);
	};
	readonly activityExportPath = '/backend-api/admin/audit/export';
	/** Calls of parts of the page that are loaded later, and know their own paths. */
	requestPath = <T>(method: string, path: string, body?: unknown) =>
		this.requestJson<T>(method, path, body);
	/** Calls of the administrator's pages (`prompts/promptApi.ts`). */
	requestAdmin = <T>(method: string, path: string, body?: unknown) =>
		this.requestJson<T>(method, `admin/${path}`, body);
	listAdmin = <T>(path: string) => this.requestItems<T>(`admin/${path}`);
	/** Times and error names only, never a person's text. */
	reportLatency = (latency: wire.PageLatency) => this.#report('lat/r', latency);
	reportErrors = (errors: wire.PageError[]) => this.#report('telemetry', { errors });

	#requestProfile(method: 'GET' | 'PUT', body?: unknown): Promise<wire.Profile> {
		return this.requestJson<wire.Profile>(method, 'user_system_messages', body);
	}

	async #requestCodes(method: string, path: string, body?: unknown): Promise<string[] | null> {
		const answer = await this.requestJson<wire.RecoveryCodes>(
			method,
			`${SECOND_FACTOR}/${path}`,
			body
		);
		return answer.recovery_codes;
	}

	async #signIn(path: string, body: unknown): Promise<wire.Me> {
		return this.#useSession(await readJson(await this.rawRequest('POST', path, { body })));
	}

	#useSession(me: wire.Me): wire.Me {
		this.csrfToken = me.csrf_token ?? '';
		return me;
	}

	/** Outlives the page, and is aborted by the next Send. */
	async #report(path: string, body: unknown): Promise<wire.TelemetryReply> {
		const { signal } = this.#telemetry;
		try {
			return await readJson(
				await this.rawRequest('POST', path, { body, signal, outlivesPage: true })
			);
		} catch (error) {
			throw signal.aborted ? new Unreachable() : error;
		}
	}

	async #post(body: wire.SendBody, signal: AbortSignal, key: string | null): Promise<Response> {
		this.#telemetry.abort();
		this.#telemetry = new AbortController();
		const headers = this.sendHeaders(body);
		if (key !== null) headers['idempotency-key'] = key;
		const client_prepare_state = 'x-conduit-token' in headers ? 'success' : 'none';
		const response = await this.#postUntilAnswered({
			body: { ...body, client_prepare_state },
			signal,
			headers
		});
		this.onsent(body, response.headers);
		return response;
	}

	/**
	 * A connection can be lost without the browser noticing. So a Send that times out is sent again
	 * as long as the server answers /status; the server accepts it once. While a model is loading,
	 * the timeout is extended instead.
	 */
	async #postUntilAnswered(send: RequestOptions): Promise<Response> {
		let isServerUp = true;
		const isLoading = async () => {
			try {
				return (await this.getStatus()).state !== 'ready';
			} catch (error) {
				isServerUp = !(error instanceof Unreachable);
				return false;
			}
		};
		for (;;) {
			try {
				return await this.openStream('POST', 'f/conversation', send, isLoading);
			} catch (error) {
				if (!(error instanceof TimedOut) || !isServerUp) throw error;
			}
		}
	}
}

/** The scopes `everyone` and `address` have no target. */
function buildLimitPath(scope: wire.LimitScope, target: string): string {
	return target === '' ? `limits/${scope}` : `limits/${scope}/${encodeURIComponent(target)}`;
}
