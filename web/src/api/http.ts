/**
 * The HTTP client below `client.ts`: it adds the CSRF token, limits how long a request may take, and
 * translates failures into ApiError and Unreachable. It knows no endpoint.
 */
import type { ErrorBody, Failure, Items } from './wire';

/** The server answered with an error. */
export class ApiError extends Error {
	constructor(
		message: string,
		readonly status: number,
		readonly code: string | null,
		/** The field of the request that is wrong, if the server named one. */
		readonly param: string | null = null,
		/** The server's Retry-After. */
		readonly retryAfterMs: number | null = null,
		/** The id of the request, as the server's log has it. */
		readonly requestId: string | null = null
	) {
		super(message);
	}

	/** Whether the same request may succeed later. */
	get isTransient(): boolean {
		return [408, 425, 429].includes(this.status) || this.status >= 500;
	}
}

/** There was no answer, or one from a proxy. Whether the server got the request is unknown. */
export class Unreachable extends Error {
	constructor() {
		super('The server cannot be reached.');
	}
}

export class TimedOut extends Unreachable {}

/** The failure as a value the page can show. Rethrows anything else: that is a bug. */
export function toFailure(error: unknown): Failure {
	if (error instanceof Unreachable) return { message: error.message, code: 'unreachable' };
	if (error instanceof ApiError) {
		const { message, code, param, retryAfterMs, requestId } = error;
		const retryAt = retryAfterMs === null ? null : Date.now() + retryAfterMs;
		return { message, code, param, retryAt, requestId };
	}
	throw error;
}

/** A 401 with one of these codes is about a token in the request, not about the session. */
const TOKEN_ERRORS = ['token_expired', 'token_invalid'];

/** How long the server may take until its answer begins, after the request was uploaded. */
const TIMEOUT_MS = 10_000;
/** The upload speed that a large request is given time for. */
const MIN_BYTES_PER_MS = 4;

export type Fetch = (input: string, init?: RequestInit) => Promise<Response>;

export interface RequestOptions {
	body?: unknown;
	file?: Blob;
	signal?: AbortSignal;
	headers?: Record<string, string>;
	/** Lets the request finish after the page was closed. Browsers allow 64 kB for all of them. */
	outlivesPage?: boolean;
}

export class HttpClient {
	/** Called when a response shows that the session has ended. */
	onsignedout: () => void = () => undefined;
	/** A random id of this browser, sent with every change. */
	deviceId = '';

	protected csrfToken = '';
	#fetch: Fetch;

	constructor(fetch: Fetch = (input, init) => globalThis.fetch(input, init)) {
		this.#fetch = fetch;
	}

	protected async requestJson<T>(
		method: string,
		path: string,
		body?: unknown,
		signal?: AbortSignal
	): Promise<T> {
		const options = signal === undefined ? { body } : { body, signal };
		return readJson<T>(await this.request(method, path, options));
	}

	/** For routes that answer with a whole list. */
	protected async requestItems<T>(path: string): Promise<T[]> {
		return (await this.requestJson<Items>('GET', path)).items as T[];
	}

	/** For requests that the server answers at once. Fails after a timeout. */
	protected getWithTimeout<T>(path: string): Promise<T> {
		return withTimeout((signal) => this.requestJson<T>('GET', path, undefined, signal));
	}

	/** A small change. The page may show it before the answer, so it outlives the page. */
	protected async change(method: string, path: string, body?: unknown): Promise<void> {
		await readJson(await this.request(method, path, { body, outlivesPage: true }));
	}

	/** Returns the response as soon as it begins. `mayTakeLonger` is called at every timeout. */
	protected async openStream(
		method: string,
		path: string,
		options: RequestOptions,
		mayTakeLonger?: () => Promise<boolean>
	): Promise<Response> {
		const numBytes = options.body === undefined ? 0 : JSON.stringify(options.body).length;
		const open = async (signal: AbortSignal) => {
			const response = await this.request(method, path, { ...options, signal });
			if (!response.ok) throw await readError(response);
			return response;
		};
		return withTimeout(open, numBytes, options.signal, mayTakeLonger);
	}

	/** Notices when the session has ended. */
	protected async request(
		method: string,
		path: string,
		options: RequestOptions = {}
	): Promise<Response> {
		const response = await this.rawRequest(method, path, options);
		if (response.status !== 401) return response;
		const { code } = toFailure(await readError(response.clone()));
		if (!TOKEN_ERRORS.includes(code ?? '')) this.onsignedout();
		return response;
	}

	protected async rawRequest(
		method: string,
		path: string,
		options: RequestOptions = {}
	): Promise<Response> {
		const headers = new Headers(options.headers);
		if (method !== 'GET') headers.set('x-csrf-token', this.csrfToken);
		if (method !== 'GET' && this.deviceId !== '') headers.set('oai-device-id', this.deviceId);
		if (options.body !== undefined) headers.set('content-type', 'application/json');
		if (options.file !== undefined) headers.set('content-type', detectContentType(options.file));
		try {
			return await this.#fetch(`/backend-api/${path}`, {
				method,
				headers,
				body: options.file ?? (options.body === undefined ? null : JSON.stringify(options.body)),
				signal: options.signal ?? null,
				keepalive: options.outlivesPage ?? false,
				// With a cache the browser would queue this behind an equal request that is lost.
				cache: 'no-store'
			});
		} catch (error) {
			if (options.signal?.aborted) throw error;
			throw new Unreachable();
		}
	}
}

/** Aborts a request whose answer does not begin in time. Uploading `numBytes` adds to the time. */
async function withTimeout<T>(
	open: (signal: AbortSignal) => Promise<T>,
	numBytes = 0,
	signal?: AbortSignal,
	mayTakeLonger: () => Promise<boolean> = () => Promise.resolve(false)
): Promise<T> {
	const timeout = new AbortController();
	let timer: ReturnType<typeof setTimeout> | undefined;
	let isDone = false;
	const start = () => {
		timer = setTimeout(() => void check(), TIMEOUT_MS + numBytes / MIN_BYTES_PER_MS);
	};
	const check = async () => {
		const isExtended = await mayTakeLonger();
		if (isDone) return;
		if (isExtended) start();
		else timeout.abort();
	};
	start();
	try {
		return await open(
			signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal])
		);
	} catch (error) {
		throw timeout.signal.aborted && !signal?.aborted ? new TimedOut() : error;
	} finally {
		isDone = true;
		clearTimeout(timer);
	}
}

/** Browsers name zip files in more than one way. */
function detectContentType(file: Blob): string {
	return file.type.includes('zip') ? 'application/zip' : 'application/json';
}

export async function readJson<T>(response: Response): Promise<T> {
	if (!response.ok) throw await readError(response);
	const text = await readText(response);
	try {
		return (text === '' ? undefined : JSON.parse(text)) as T;
	} catch {
		// Our server answers in JSON, so this came from a proxy.
		throw new Unreachable();
	}
}

/** A body that breaks off is no answer. */
async function readText(response: Response): Promise<string> {
	try {
		return await response.text();
	} catch {
		throw new Unreachable();
	}
}

/** A proxy answers these for a server that is down. Our server adds a JSON body. */
const PROXY_ERRORS = [502, 503, 504];

const TOO_LARGE = 'This is larger than what lies between you and the server lets through.';

/** The body may be a proxy's, and not our JSON. */
async function readError(response: Response): Promise<ApiError | Unreachable> {
	const { status } = response;
	const text = await readText(response);
	try {
		const { error, request_id: requestId = null } = JSON.parse(text) as ErrorBody;
		const { message, code, param = null } = error;
		return new ApiError(message, status, code, param, readRetryAfterMs(response), requestId);
	} catch {
		if (PROXY_ERRORS.includes(status)) return new Unreachable();
		if (status === 413) return new ApiError(TOO_LARGE, status, 'too_large');
		return new ApiError(`The server answered ${status}.`, status, null);
	}
}

function readRetryAfterMs({ headers }: Response): number | null {
	const ms = Number(headers.get('retry-after-ms') ?? NaN);
	const s = Number(headers.get('retry-after') ?? NaN);
	if (Number.isFinite(ms)) return ms;
	return Number.isFinite(s) ? s * 1000 : null;
}
