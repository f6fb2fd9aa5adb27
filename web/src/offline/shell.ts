/**
 * What is kept of the page, and when it is used. Of what people write nothing is kept: only
 * the page itself and the files it is built of, which are the same for everyone.
 */
export interface Shell {
	/** Changes with every build; also the name of the cache. */
	version: string;
	/** What the page needs to show its first screen. */
	files: readonly string[];
}

export interface World {
	caches: CacheStorage;
	fetch: typeof fetch;
}

const PAGE = '/';
/** A server that has not begun to answer by then is as good as none. */
const PATIENCE_MS = 3_000;

/** A rule by which a browser sends requests their way without asking the worker. */
export interface Route {
	condition: { urlPattern: { pathname: string } };
	source: 'network';
}

/** Nothing that is called on the server waits until the worker is awake. */
const ROUTES: readonly Route[] = [
	{ condition: { urlPattern: { pathname: '/backend-api/*' } }, source: 'network' }
];

export interface Routable {
	/** Not in every browser yet. */
	addRoutes?: (rules: readonly Route[]) => Promise<void>;
}

/** They only save time: a browser that does not take them does without. */
export async function route(installing: Routable): Promise<void> {
	await installing.addRoutes?.(ROUTES).catch(() => undefined);
}

/**
 * Fetches the shell, one file at a time: whoever sends something meanwhile needs a connection too.
 * Names hold a hash of what is in a file, so an old copy is as good.
 */
export async function keep(shell: Shell, { caches, fetch }: World): Promise<void> {
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

/** Forgets the shells of other builds. */
export async function tidy(shell: Shell, { caches }: World): Promise<void> {
	const others = (await caches.keys()).filter((name) => name !== shell.version);
	await Promise.all(others.map((name) => caches.delete(name)));
}

export type Kind = 'page' | 'file';

/** Which requests are ours to answer. All others go their way untouched. */
export function kindOf(request: Request, origin: string): Kind | null {
	const { origin: to, pathname } = new URL(request.url);
	if (to !== origin || request.method !== 'GET') return null;
	if (pathname.startsWith('/assets/')) return 'file';
	const isPage = pathname === '/' || pathname.startsWith('/c/');
	return isPage && request.mode === 'navigate' ? 'page' : null;
}

/** The page as the server has it; the kept one when there is no server, or none in time. */
export async function page(
	shell: Shell,
	asked: Promise<Response>,
	{ caches }: World,
	patience = PATIENCE_MS
): Promise<Response> {
	const kept = await (await caches.open(shell.version)).match(PAGE);
	if (kept === undefined) return asked;
	const instead = asked.then(
		(response) => (response.status >= 500 ? kept : response),
		() => kept
	);
	const later = new Promise<Response>((resolve) => setTimeout(() => resolve(kept), patience));
	return Promise.race([instead, later]);
}

/** A built file: the kept one, else the server's, which is kept from then on. */
export async function file(
	shell: Shell,
	request: Request,
	{ caches, fetch }: World
): Promise<Response> {
	const cache = await caches.open(shell.version);
	const kept = await cache.match(request);
	if (kept !== undefined) return kept;
	const response = await fetch(request);
	if (response.status === 200) await cache.put(request, response.clone());
	return response;
}
