/** Talks HTTP to the server: adds the CSRF token, and turns what went wrong into an ApiError. */
import type { Stamped } from './events.gen';
import type * as wire from './wire';

/** The server answered, and the answer was no. */
export class ApiError extends Error {
	constructor(
		message: string,
		readonly status: number,
		readonly code: string | null
	) {
		super(message);
	}
}

/** The server did not answer. Whether it heard us is not known. */
export class Unreachable extends Error {
	constructor() {
		super('The server cannot be reached. Check your connection.');
	}
}

type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

export class Api {
	/** Called when a request shows that nobody is signed in any more. */
	onsignedout: () => void = () => undefined;

	#csrfToken = '';
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

	status = () => this.#json<wire.Status>('GET', 'status');
	models = () => this.#json<{ models: wire.Model[]; default_model: string }>('GET', 'models');

	conversations = (offset: number, query: string) => {
		const params = new URLSearchParams({ offset: String(offset), limit: '28' });
		if (query !== '') params.set('q', query);
		return this.#json<wire.ConversationPage>('GET', `conversations?${params}`);
	};
	conversation = (id: string) => this.#json<wire.ConversationDetail>('GET', `conversation/${id}`);
	changeConversation = (id: string, change: { title: string } | { current_node: string }) =>
		this.#done('PATCH', `conversation/${id}`, change);
	deleteConversation = (id: string) => this.#done('DELETE', `conversation/${id}`);
	stop = (conversationId: string, turnId: string) =>
		this.#done('POST', 'stop_conversation', {
			conversation_id: conversationId,
			turn_exchange_id: turnId
		});
	turn = (turnId: string) => this.#json<{ events: Stamped[] }>('GET', `turn/${turnId}`);

	/** Sends a message. The answer streams in the body of the response. */
	send = (body: wire.SendBody, signal: AbortSignal) =>
		this.#stream('POST', 'f/conversation', { body, signal });

	/** The stream of a turn, from the event after `after` on. */
	follow = (turnId: string, after: number, signal: AbortSignal) =>
		this.#stream('GET', `f/conversation/${turnId}/events`, { after, signal });

	async #enter(path: string, body: unknown): Promise<wire.Me['user']> {
		return this.#remember(await accepted(await this.#ask('POST', path, { body })));
	}

	#remember(me: wire.Me): wire.Me['user'] {
		this.#csrfToken = me.csrf_token;
		return me.user;
	}

	async #json<T>(method: string, path: string, body?: unknown): Promise<T> {
		return accepted<T>(this.#stillSignedIn(await this.#ask(method, path, { body })));
	}

	async #done(method: string, path: string, body?: unknown): Promise<void> {
		await this.#json(method, path, body);
	}

	async #stream(method: string, path: string, request: Request): Promise<Response> {
		const response = this.#stillSignedIn(await this.#ask(method, path, request));
		if (!response.ok) throw await refusal(response);
		return response;
	}

	#stillSignedIn(response: Response): Response {
		if (response.status === 401) this.onsignedout();
		return response;
	}

	async #ask(method: string, path: string, request: Request = {}): Promise<Response> {
		const headers = new Headers();
		if (method !== 'GET') headers.set('x-csrf-token', this.#csrfToken);
		if (request.body !== undefined) headers.set('content-type', 'application/json');
		if (request.after !== undefined) headers.set('last-event-id', String(request.after));
		try {
			return await this.#fetch(`/backend-api/${path}`, {
				method,
				headers,
				body: request.body === undefined ? null : JSON.stringify(request.body),
				signal: request.signal ?? null
			});
		} catch (error) {
			if (request.signal?.aborted) throw error;
			throw new Unreachable();
		}
	}
}

interface Request {
	body?: unknown;
	after?: number;
	signal?: AbortSignal;
}

async function accepted<T>(response: Response): Promise<T> {
	if (!response.ok) throw await refusal(response);
	return (response.status === 204 ? undefined : await response.json()) as T;
}

/** A proxy in between may answer with something that is not our JSON. */
async function refusal(response: Response): Promise<ApiError> {
	const text = await response.text();
	try {
		const { error } = JSON.parse(text) as { error: { message: string; code: string | null } };
		return new ApiError(error.message, response.status, error.code);
	} catch {
		return new ApiError(`The server answered ${response.status}.`, response.status, null);
	}
}
