/**
 * The service worker: what the browser asks when a page or one of its files is wanted. A new
 * build waits until the last page of the old one is closed, so no page loses its files.
 */
import {
	file,
	keep,
	kindOf,
	page,
	route,
	tidy,
	type Routable,
	type Shell,
	type World
} from '$/offline/shell';

interface Lasting extends Event {
	waitUntil: (work: Promise<unknown>) => void;
}
type Installing = Lasting & Routable;
interface Fetching extends Lasting {
	request: Request;
	preloadResponse: Promise<Response | undefined>;
	respondWith: (response: Promise<Response>) => void;
}
declare const clients: { claim: () => Promise<void> };
declare const registration: ServiceWorkerRegistration;
/** Written by the build: see vite.config.ts. */
declare const SHELL: Shell;

const world: World = { caches, fetch: (...asked) => fetch(...asked) };

addEventListener('install', (event) => (event as Lasting).waitUntil(install(event as Installing)));

addEventListener('activate', (event) => (event as Lasting).waitUntil(begin()));

addEventListener('fetch', (event) => {
	const fetching = event as Fetching;
	const { request } = fetching;
	const kind = kindOf(request, location.origin);
	if (kind === 'file') fetching.respondWith(file(SHELL, request, world));
	if (kind === 'page') fetching.respondWith(page(SHELL, asked(fetching), world));
});

async function install(event: Installing): Promise<void> {
	await route(event);
	await keep(SHELL, world);
}

async function begin(): Promise<void> {
	await tidy(SHELL, world);
	// The browser then asks the server while this worker is still waking up.
	await registration.navigationPreload?.enable();
	await clients.claim();
}

async function asked({ request, preloadResponse }: Fetching): Promise<Response> {
	return (await preloadResponse) ?? fetch(request);
}
