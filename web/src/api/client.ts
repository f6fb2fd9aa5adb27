/** Talks HTTP to the server: adds the CSRF token, and turns what went wrong into an ApiError. */
import type { Stamped } from './events.gen';
import type * as memory from './memory';
import type { Topics } from './socket';
import type * as spending from './spending';
import type * as wire from './wire';

/** The server answered, and the answer was no. */
export class ApiError extends Error {
	constructor(
		message: string,
		readonly status: number,
		readonly code: string | null,
		/** The field of the request that is to blame, where one is. */
		readonly param: string | null = null,
		/** How long the server asks us to wait before another try. */
		readonly retryAfterMs: number | null = null
	) {
		super(message);
	}

	/** Whether the same may be taken later. */
	get mayPass(): boolean {
		return [408, 425, 429].includes(this.status) || this.status >= 500;
	}
}

/** The server did not answer, or somebody else did in its place. Whether it heard us is not known. */
export class Unreachable extends Error {
	constructor() {
		super('The server cannot be reached.');
	}
}

/** It would have answered by now. */
class Late extends Unreachable {}

/** What went wrong, as a value the page can put into words. Anything else is a bug of ours. */
export function failureOf(error: unknown): wire.Failure {
	if (error instanceof Unreachable) return { message: error.message, code: 'unreachable' };
	if (error instanceof ApiError) {
		const { message, code, param, retryAfterMs } = error;
		const retryAt = retryAfterMs === null ? null : Date.now() + retryAfterMs;
		return { message, code, param, retryAt };
	}
	throw error;
}

/** What is said of a token that was brought along, by whoever is signed in. */
const OF_A_TOKEN = ['token_expired', 'token_invalid'];

/** A server that is there begins to answer within so long, once it has the whole question. */
const PATIENCE_MS = 10_000;
/** The slowest line that a long question is given time to go over. */
const MIN_BYTES_PER_MS = 4;

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

export class Api {
	/** Called when a request shows that nobody is signed in any more. */
	onsignedout: () => void = () => undefined;
	/** Another way to follow turns, while somebody keeps it open. */
	topics: Topics | null = null;
	/** What else goes along with a Send, and what is looked at when it was taken. */
	companions: (body: wire.SendBody) => Record<string, string> = () => ({});
	onsent: (body: wire.SendBody, headers: Headers) => void = () => undefined;
	/** Does the work that the server wants to see before it takes a Send, for as long as one stays. */
	prove: (left: AbortSignal) => Promise<void> = () => Promise.resolve();
	/** Tells this browser from another, at the gate: a name that says nothing. */
	device = '';

	/** Whether something may follow an answer that only its own stream tells. */
	expectsSuggestions = false;

	#csrfToken = '';
	/** Aborted when there is something more important to say. */
	#telling = new AbortController();
	#fetch: Fetch;

	constructor(fetch: Fetch = (input, init) => globalThis.fetch(input, init)) {
		this.#fetch = fetch;
	}

	needsFirstAccount = async () =>
		(await this.#json<{ needs_first_account: boolean }>('GET', 'accounts/check'))
			.needs_first_account;
	createFirstAccount = (name: string, password: string) =>
		this.#enter('accounts/first', { name, password });
	signIn = (name: string, password: string) => this.#enter('accounts/sign-in', { name, password });
	signUp = (invite: string, name: string, password: string) =>
		this.#enter('accounts/sign-up', { invite, name, password });
	signOut = () => this.#done('POST', 'accounts/sign-out');

	rename = async (name: string) =>
		(await this.#json<{ user: wire.Me['user'] }>('PATCH', 'me', { name })).user;
	changePassword = (current: string, next: string) =>
		this.#done('POST', 'me/password', { current, new: next });
	deleteAccount = (password: string) => this.#done('DELETE', 'me', { password });
	sessions = async () => (await this.#json<{ items: wire.SignedIn[] }>('GET', 'sessions')).items;
	endSession = (id: string) => this.#done('DELETE', `sessions/${id}`);

	/** Who is signed in, or null. */
	async me(): Promise<wire.Me['user'] | null> {
		const response = await this.#ask('GET', 'me');
		if (response.status === 401) return null;
		return this.#remember((await accepted(response)) as wire.Me);
	}

	keys = async () => (await this.#json<{ items: wire.Key[] }>('GET', 'keys')).items;
	createKey = (label: string) => this.#json<{ key: string }>('POST', 'keys', { label });
	deleteKey = (id: string) => this.#done('DELETE', `keys/${id}`);
	invites = async () => (await this.#json<{ items: wire.Invite[] }>('GET', 'invites')).items;
	createInvite = (role: wire.Invite['role']) =>
		this.#json<{ path: string }>('POST', 'invites', { role });
	deleteInvite = (id: string) => this.#done('DELETE', `invites/${id}`);

	people = async () => (await this.#json<{ items: wire.PersonLine[] }>('GET', 'people')).items;
	changePerson = (
		id: string,
		change:
			{ role: wire.Me['user']['role'] } | { is_disabled: boolean } | { group_id: string | null }
	) => this.#done('PATCH', `people/${id}`, change);
	deletePerson = (id: string) => this.#done('DELETE', `people/${id}`);

	rules = () => this.#json<wire.Rules>('GET', 'rules');
	status = () => this.#soon<wire.Status>('status');
	models = () => this.#soon<wire.Models>('models');
	pullModel = (name: string) => this.#done('POST', `models/${encodeURIComponent(name)}/pull`);
	removeModel = (name: string) => this.#done('DELETE', `models/${encodeURIComponent(name)}`);

	conversations = ({ offset, limit, ...which }: wire.Which) => {
		const params = new URLSearchParams({ offset: String(offset), limit: String(limit) });
		for (const [name, value] of Object.entries(which)) {
			if (value !== undefined) params.set(name, String(value));
		}
		return this.#json<wire.ConversationPage>('GET', `conversations?${params}`);
	};
	conversation = (id: string) => this.#json<wire.ConversationDetail>('GET', `conversation/${id}`);
	changeConversation = (id: string, change: wire.ConversationChange) =>
		this.#done('PATCH', `conversation/${id}`, change);

	folders = async () => (await this.#json<{ items: wire.Folder[] }>('GET', 'folders')).items;
	createFolder = (name: string) => this.#json<wire.Folder>('POST', 'folders', { name });
	renameFolder = (id: string, name: string) => this.#done('PATCH', `folders/${id}`, { name });
	deleteFolder = (id: string) => this.#done('DELETE', `folders/${id}`);

	rate = (conversationId: string, messageId: string, feedback: wire.Feedback) =>
		this.#done('PUT', `conversation/${conversationId}/messages/${messageId}/feedback`, feedback);
	unrate = (conversationId: string, messageId: string) =>
		this.#done('DELETE', `conversation/${conversationId}/messages/${messageId}/feedback`);

	share = (conversationId: string, leaf: string) =>
		this.#json<wire.Share>('POST', `conversation/${conversationId}/shares`, { current_node: leaf });
	shares = async () => (await this.#json<{ items: wire.Share[] }>('GET', 'shares')).items;
	revokeShare = (id: string) => this.#done('DELETE', `shares/${id}`);
	shared = (id: string) => this.#json<wire.Shared>('GET', `share/${encodeURIComponent(id)}`);

	/** Takes the file as it is; the server finds out what it holds. */
	import = async (file: Blob, leaveOutBroken: boolean) => {
		const path = leaveOutBroken ? 'import?leave_out_broken=true' : 'import';
		return accepted<wire.ImportReport>(
			await this.#stillSignedIn(await this.#ask('POST', path, { file }))
		);
	};
	/** Where the browser finds everything of whoever is signed in, as a file to keep. */
	readonly exportPath = '/backend-api/export';

	/** Those with every word of `q`, the newest first. */
	memories = (q: string, offset: number, limit: number) => {
		const params = new URLSearchParams({ q, offset: String(offset), limit: String(limit) });
		return this.#json<memory.MemoryPage>('GET', `memories?${params}`);
	};
	/** Those of them that are there. */
	memoriesNamed = async (ids: string[]) =>
		(await this.#json<memory.MemoryPage>('GET', `memories?ids=${ids.join(',')}`)).items;
	addMemory = (text: string) => this.#json<memory.Memory>('POST', 'memories', { text });
	changeMemory = (id: string, text: string) =>
		this.#json<memory.Memory>('PATCH', `memories/${id}`, { text });
	acceptMemory = (id: string) => this.#json<memory.Memory>('POST', `memories/${id}/accept`);
	/** For a while it can be brought back. */
	removeMemory = (id: string) => this.#done('DELETE', `memories/${id}`);
	bringBackMemory = (id: string) => this.#json<memory.Memory>('POST', `memories/${id}/bring_back`);
	/** All of them, for good. */
	clearMemories = () => this.#done('DELETE', 'memories');
	readonly memoriesExportPath = '/backend-api/memories/export';
	profile = () => this.#profile('GET');
	/** What is not named stays as it is. */
	setProfile = (change: Partial<memory.Profile>, wipesMemories = false) =>
		this.#profile('PUT', { ...change, ...(wipesMemories ? { wipes_memories: true } : {}) });
	/** What the model saw before it gave an answer. */
	context = (conversationId: string, messageId: string) =>
		this.#json<memory.Context>(
			'GET',
			`conversation/${conversationId}/message/${messageId}/context`
		);

	stop = (conversationId: string, turnId: string) =>
		this.#done('POST', 'stop_conversation', {
			conversation_id: conversationId,
			turn_exchange_id: turnId
		});
	turn = (turnId: string) => this.#json<{ events: Stamped[] }>('GET', `turn/${turnId}`);

	/**
	 * Sends a message, if need be after some work. The answer streams in the body of the response.
	 * Sent again (the same message, or under the same `key`), it is the same turn that streams.
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

	/** The stream of a turn, from the event after `after` on. */
	follow = (turnId: string, after: number, signal: AbortSignal) =>
		this.#stream('GET', `f/conversation/${turnId}/events`, {
			signal,
			headers: { 'last-event-id': String(after) }
		});

	/** The same, by the token that the stream gave us to come back with. */
	resume = (body: wire.ResumeBody, token: string, signal: AbortSignal) =>
		this.#stream('POST', 'f/conversation/resume', {
			body,
			signal,
			headers: { 'x-conduit-token': token }
		});

	/** Where a socket can be opened, once. */
	socketTicket = () => this.#soon<{ websocket_url: string }>('celsius/ws/user');

	/** Has everything read that comes before a message, and says what it would weigh. */
	prepare = (body: wire.SendBody, signal: AbortSignal) =>
		this.#json<wire.Prepared>('POST', 'f/conversation/prepare', body, signal);
	complete = (body: wire.Begun, signal: AbortSignal) =>
		this.#json<wire.Completions>(
			'POST',
			'conversation/experimental/generate_autocompletions',
			body,
			signal
		);

	tokenize = (asked: { model: string; text: string }, signal: AbortSignal) =>
		this.#json<wire.Tokenized>('POST', 'tokenize', asked, signal);

	askForWork = () => this.#json<wire.Challenge>('POST', 'sentinel/chat-requirements/prepare', {});
	showWork = (prepare_token: string, proofofwork: string | null) =>
		this.#json<wire.Earned>('POST', 'sentinel/chat-requirements/finalize', {
			prepare_token,
			proofofwork
		});
	keepAlive = async (token: string) => {
		const headers = { 'hitsend-sentinel-token': token };
		return accepted<wire.Earned>(await this.#ask('POST', 'sentinel/ping', { headers }));
	};

	allowance = () => this.#json<spending.Allowance>('GET', 'limits/mine');
	limits = () => this.#json<spending.Limits>('GET', 'limits');
	setLimit = (scope: spending.LimitScope, target: string, limit: spending.Limit) =>
		this.#done('PUT', limitPath(scope, target), limit);
	removeLimit = (scope: spending.LimitScope, target: string) =>
		this.#done('DELETE', limitPath(scope, target));
	groups = async () => (await this.#json<{ items: spending.Group[] }>('GET', 'groups')).items;
	createGroup = (name: string) => this.#done('POST', 'groups', { name });
	renameGroup = (id: string, name: string) => this.#done('PATCH', `groups/${id}`, { name });
	deleteGroup = (id: string) => this.#done('DELETE', `groups/${id}`);
	usage = (days: number) => this.#json<spending.Spending>('GET', `usage?days=${days}`);
	usageOfAll = (days: number) =>
		this.#json<spending.SpendingOfAll>('GET', `usage/everyone?days=${days}`);
	prices = () => this.#json<spending.Prices>('GET', 'prices');
	setPrice = (model: string, price: spending.Price) =>
		this.#done('PUT', `prices/${encodeURIComponent(model)}`, price);
	removePrice = (model: string) => this.#done('DELETE', `prices/${encodeURIComponent(model)}`);
	speeds = () => this.#json<wire.Speeds>('GET', 'latency');
	/** What is an administrator's to ask and to change for everyone. */
	admin = <T>(method: string, path: string, body?: unknown) =>
		this.#json<T>(method, `admin/${path}`, body);
	/** How fast an answer came, and what went wrong in the page. Never what was said. */
	tellLatency = (latency: wire.Latency) => this.#tell('lat/r', latency);
	tellErrors = (errors: wire.PageError[]) => this.#tell('telemetry', { errors });

	async #profile(method: 'GET' | 'PUT', body?: unknown): Promise<memory.Profile> {
		const profile = await this.#json<memory.Profile>(method, 'user_system_messages', body);
		this.expectsSuggestions = profile.uses_memory && profile.suggests_memories;
		return profile;
	}

	async #enter(path: string, body: unknown): Promise<wire.Me['user']> {
		return this.#remember(await accepted(await this.#ask('POST', path, { body })));
	}

	#remember(me: wire.Me): wire.Me['user'] {
		this.#csrfToken = me.csrf_token;
		return me.user;
	}

	async #json<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
		const request = signal === undefined ? { body } : { body, signal };
		return accepted<T>(await this.#stillSignedIn(await this.#ask(method, path, request)));
	}

	/** What a server that is there tells at once. */
	#soon<T>(path: string): Promise<T> {
		return inTime((signal) => this.#json<T>('GET', path, undefined, signal));
	}

	/** Something small, shown perhaps before the server has it: it arrives even if the page is left. */
	async #done(method: string, path: string, body?: unknown): Promise<void> {
		const response = await this.#ask(method, path, { body, outlivesPage: true });
		await accepted(await this.#stillSignedIn(response));
	}

	/** Goes out even while the page is being left, but keeps no Send waiting. */
	async #tell(path: string, body: unknown): Promise<wire.Heard> {
		const { signal } = this.#telling;
		try {
			return await accepted(await this.#ask('POST', path, { body, signal, outlivesPage: true }));
		} catch (error) {
			throw signal.aborted ? new Unreachable() : error;
		}
	}

	async #stream(
		method: string,
		path: string,
		request: Request,
		mayTakeLonger?: () => Promise<boolean>
	): Promise<Response> {
		const numBytes = request.body === undefined ? 0 : JSON.stringify(request.body).length;
		const ask = async (signal: AbortSignal) => {
			const asked = await this.#ask(method, path, { ...request, signal });
			const response = await this.#stillSignedIn(asked);
			if (!response.ok) throw await refusal(response);
			return response;
		};
		return inTime(ask, numBytes, request.signal, mayTakeLonger);
	}

	async #post(body: wire.SendBody, signal: AbortSignal, key: string | null): Promise<Response> {
		this.#telling.abort();
		this.#telling = new AbortController();
		const headers = this.companions(body);
		if (key !== null) headers['idempotency-key'] = key;
		const response = await this.#insist({ body, signal, headers });
		this.onsent(body, response.headers);
		return response;
	}

	/**
	 * Nobody tells us of a connection that is silently gone. So a Send is sent again while there is
	 * a server that could have answered, and takes it once. One that loads a model takes its time.
	 */
	async #insist(send: Request): Promise<Response> {
		let isThere = true;
		const isLoading = async () => {
			try {
				return (await this.status()).state !== 'ready';
			} catch (error) {
				isThere = !(error instanceof Unreachable);
				return false;
			}
		};
		for (;;) {
			try {
				return await this.#stream('POST', 'f/conversation', send, isLoading);
			} catch (error) {
				if (!(error instanceof Late) || !isThere) throw error;
			}
		}
	}

	/** A token of ours that no longer holds says nothing of the session. */
	async #stillSignedIn(response: Response): Promise<Response> {
		if (response.status !== 401) return response;
		const { code } = failureOf(await refusal(response.clone()));
		if (!OF_A_TOKEN.includes(code ?? '')) this.onsignedout();
		return response;
	}

	async #ask(method: string, path: string, request: Request = {}): Promise<Response> {
		const headers = new Headers(request.headers);
		if (method !== 'GET') headers.set('x-csrf-token', this.#csrfToken);
		if (method !== 'GET' && this.device !== '') headers.set('oai-device-id', this.device);
		if (request.body !== undefined) headers.set('content-type', 'application/json');
		if (request.file !== undefined) headers.set('content-type', typeOf(request.file));
		try {
			return await this.#fetch(`/backend-api/${path}`, {
				method,
				headers,
				body: request.file ?? (request.body === undefined ? null : JSON.stringify(request.body)),
				signal: request.signal ?? null,
				keepalive: request.outlivesPage ?? false,
				// The cache would let a question wait for the same one, asked before and lost.
				cache: 'no-store'
			});
		} catch (error) {
			if (request.signal?.aborted) throw error;
			throw new Unreachable();
		}
	}
}

/** Aborts what nobody begins to answer in time. `numBytes` have to go out first. */
async function inTime<T>(
	ask: (signal: AbortSignal) => Promise<T>,
	numBytes = 0,
	left?: AbortSignal,
	mayTakeLonger: () => Promise<boolean> = () => Promise.resolve(false)
): Promise<T> {
	const late = new AbortController();
	let timer: ReturnType<typeof setTimeout> | undefined;
	let isOver = false;
	const wait = () => {
		timer = setTimeout(() => void look(), PATIENCE_MS + numBytes / MIN_BYTES_PER_MS);
	};
	const look = async () => {
		const mayGoOn = await mayTakeLonger();
		if (isOver) return;
		if (mayGoOn) wait();
		else late.abort();
	};
	wait();
	try {
		return await ask(left === undefined ? late.signal : AbortSignal.any([left, late.signal]));
	} catch (error) {
		throw late.signal.aborted && !left?.aborted ? new Late() : error;
	} finally {
		isOver = true;
		clearTimeout(timer);
	}
}

/** What holds for all has no target. */
function limitPath(scope: spending.LimitScope, target: string): string {
	return target === '' ? `limits/${scope}` : `limits/${scope}/${encodeURIComponent(target)}`;
}

/** Browsers name zip files in more than one way. */
function typeOf(file: Blob): string {
	return file.type.includes('zip') ? 'application/zip' : 'application/json';
}

interface Request {
	body?: unknown;
	file?: Blob;
	signal?: AbortSignal;
	headers?: Record<string, string>;
	/** The browser sends it to the end, whoever leaves. At most 64 kB, with all others under way. */
	outlivesPage?: boolean;
}

async function accepted<T>(response: Response): Promise<T> {
	if (!response.ok) throw await refusal(response);
	const text = await textOf(response);
	try {
		return (text === '' ? undefined : JSON.parse(text)) as T;
	} catch {
		// Somebody in between has answered: our server says yes in JSON.
		throw new Unreachable();
	}
}

/** A body that is cut half-way was no answer. */
async function textOf(response: Response): Promise<string> {
	try {
		return await response.text();
	} catch {
		throw new Unreachable();
	}
}

/** What a proxy says when there is no server behind it. Ours says why, in a body of its own. */
const NO_SERVER = [502, 503, 504];

const TOO_LARGE = 'This is larger than what lies between you and the server lets through.';

/** A proxy in between may answer with something that is not our JSON. */
async function refusal(response: Response): Promise<ApiError | Unreachable> {
	const text = await textOf(response);
	try {
		const { error } = JSON.parse(text) as { error: wire.Failure };
		const { status } = response;
		return new ApiError(error.message, status, error.code, error.param ?? null, waitOf(response));
	} catch {
		const { status } = response;
		if (NO_SERVER.includes(status)) return new Unreachable();
		if (status === 413) return new ApiError(TOO_LARGE, status, 'too_large');
		return new ApiError(`The server answered ${status}.`, status, null);
	}
}

function waitOf({ headers }: Response): number | null {
	const ms = Number(headers.get('retry-after-ms') ?? NaN);
	const s = Number(headers.get('retry-after') ?? NaN);
	if (Number.isFinite(ms)) return ms;
	return Number.isFinite(s) ? s * 1000 : null;
}
