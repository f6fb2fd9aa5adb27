/**
 * The service worker: answers requests for the page and its files. A new build waits until the last
 * page of the old build is closed, so no page loses its files.
 */
import {
	addRoutes,
	cacheShell,
	classifyRequest,
	deleteOldCaches,
	serveFile,
	servePage,
	type Platform,
	type RouteTarget,
	type Shell
} from '$/offline/shell';

interface ExtendableEvent extends Event {
	waitUntil: (work: Promise<unknown>) => void;
}
type InstallEvent = ExtendableEvent & RouteTarget;
interface FetchEvent extends ExtendableEvent {
	request: Request;
	preloadResponse: Promise<Response | undefined>;
	respondWith: (response: Promise<Response>) => void;
}
declare const clients: { claim: () => Promise<void> };
declare const registration: ServiceWorkerRegistration;
/** Written by the build: see vite.config.ts. */
declare const SHELL: Shell;

const platform: Platform = { caches, fetch: (...request) => fetch(...request) };

addEventListener('install', (event) =>
	(event as InstallEvent).waitUntil(install(event as InstallEvent))
);

addEventListener('activate', (event) => (event as ExtendableEvent).waitUntil(activate()));

addEventListener('fetch', (event) => {
	const fetchEvent = event as FetchEvent;
	const { request } = fetchEvent;
	const kind = classifyRequest(request, location.origin);
	if (kind === 'file') fetchEvent.respondWith(serveFile(SHELL, request, platform));
	if (kind === 'page') fetchEvent.respondWith(servePage(SHELL, fetchPage(fetchEvent), platform));
});

async function install(event: InstallEvent): Promise<void> {
	await addRoutes(event);
	await cacheShell(SHELL, platform);
}

async function activate(): Promise<void> {
	await deleteOldCaches(SHELL, platform);
	// Lets the browser request a page while this worker is still starting.
	await registration.navigationPreload?.enable();
	await clients.claim();
}

async function fetchPage({ request, preloadResponse }: FetchEvent): Promise<Response> {
	return (await preloadResponse) ?? fetch(request);
}
