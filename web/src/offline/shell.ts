/**
 * Caches the page's shell for use without the server: index.html and the built files. Nothing a
 * person writes is cached.
 */
export interface Shell {
	/** Changes with every build. It is the name of the cache. */
	version: string;
	/** The files of the first screen. */
	files: readonly string[];
}

export interface Platform {
	caches: CacheStorage;
	fetch: typeof fetch;
}

const PAGE = '/';
/** After this time without an answer the cached page is shown. */
const TIMEOUT_MS = 3_000;

/** A static route: requests that match it bypass the service worker. */
export interface Route {
	condition: { urlPattern: { pathname: string } };
	source: 'network';
}

/** API calls do not wait for the worker to start. */
const ROUTES: readonly Route[] = [
	{ condition: { urlPattern: { pathname: '/backend-api/*' } }, source: 'network' }
];

export interface RouteTarget {
	/** Not every browser has it. */
	addRoutes?: (rules: readonly Route[]) => Promise<void>;
}

/** Routes only save time, so a browser that refuses them is fine. */
export async function addRoutes(event: RouteTarget): Promise<void> {
	await event.addRoutes?.(ROUTES).catch(() => undefined);
}

/**
 * Fetches one file at a time, which leaves connections for the page. File names contain a hash of
 * their content, so copies in older caches are reused.
 */
export async function cacheShell(shell: Shell, { caches, fetch }: Platform): Promise<void> {
	const cache = await caches.open(shell.version);
	const put = async (path: string, response: Response): Promise<void> => {
		if (!response.ok) throw new Error(`${path} answered ${response.status}.`);
		await cache.put(path, response);
	};
	await put(PAGE, await fetch(PAGE, { cache: 'no-cache' }));
	for (const path of shell.files) {
		await put(path, (await caches.match(path)) ?? (await fetch(path)));
	}
}

export async function deleteOldCaches(shell: Shell, { caches }: Platform): Promise<void> {
	const others = (await caches.keys()).filter((name) => name !== shell.version);
	await Promise.all(others.map((name) => caches.delete(name)));
}

export type Kind = 'page' | 'file';

/** Null for requests that the service worker does not handle. */
export function classifyRequest(request: Request, origin: string): Kind | null {
	const { origin: target, pathname } = new URL(request.url);
	if (target !== origin || request.method !== 'GET') return null;
	if (pathname.startsWith('/assets/')) return 'file';
	const isPage = pathname === '/' || pathname.startsWith('/c/');
	return isPage && request.mode === 'navigate' ? 'page' : null;
}

/** The server's page, or the cached one if the server fails or takes too long. */
export async function servePage(
	shell: Shell,
	request: Promise<Response>,
	{ caches }: Platform,
	timeoutMs = TIMEOUT_MS
): Promise<Response> {
	const cached = await (await caches.open(shell.version)).match(PAGE);
	if (cached === undefined) return request;
	const answer = request.then(
		(response) => (response.status >= 500 ? cached : response),
		() => cached
	);
	const timeout = new Promise<Response>((resolve) => setTimeout(() => resolve(cached), timeoutMs));
	return Promise.race([answer, timeout]);
}

/** A built file from the cache, or from the server, which is then cached. */
export async function serveFile(
	shell: Shell,
	request: Request,
	{ caches, fetch }: Platform
): Promise<Response> {
	const cache = await caches.open(shell.version);
	const cached = await cache.match(request);
	if (cached !== undefined) return cached;
	const response = await fetch(request);
	if (response.status === 200) await cache.put(request, response.clone());
	return response;
}
