import { describe, expect, it } from 'vitest';
import {
	addRoutes,
	cacheShell,
	classifyRequest,
	deleteOldCaches,
	serveFile,
	servePage,
	type Platform
} from '$/offline/shell';

const ORIGIN = 'https://chat.example';
const SHELL = { version: 'two', files: ['/assets/a.js', '/assets/b.css'] };

/** A browser's caches, and a server that records its requests. */
function makePlatform(answer: (path: string) => Response = (path) => new Response(path)) {
	const stores = new Map<string, Map<string, Response>>();
	const requests: string[] = [];
	const pathOf = (request: RequestInfo | URL): string =>
		new URL(request instanceof Request ? request.url : request, ORIGIN).pathname;
	const open = async (name: string) => {
		const store = stores.get(name) ?? new Map<string, Response>();
		stores.set(name, store);
		return {
			match: async (request: RequestInfo) => store.get(pathOf(request))?.clone(),
			put: async (request: RequestInfo, response: Response) => {
				store.set(pathOf(request), response);
			}
		};
	};
	const caches = {
		open,
		keys: async () => [...stores.keys()],
		delete: async (name: string) => stores.delete(name),
		match: async (request: RequestInfo) =>
			[...stores.values()]
				.map((store) => store.get(pathOf(request)))
				.find((one) => one)
				?.clone()
	};
	const fetch = async (request: RequestInfo | URL): Promise<Response> => {
		requests.push(pathOf(request));
		return answer(pathOf(request));
	};
	return { platform: { caches, fetch } as unknown as Platform, stores, requests };
}

const fail = (): Promise<Response> => Promise.reject(new TypeError('Failed to fetch'));

it('is installed even if the browser refuses the static routes', async () => {
	await addRoutes({});
	const requests: unknown[] = [];
	await addRoutes({
		addRoutes: (rules) => {
			requests.push(...rules);
			return Promise.reject(new TypeError('No such rule'));
		}
	});
	expect(requests).toHaveLength(1);
});

describe('The cached shell', () => {
	it('is the page and the files of its first screen', async () => {
		const { platform, stores } = makePlatform();
		await cacheShell(SHELL, platform);
		expect([...(stores.get('two')?.keys() ?? [])].sort()).toEqual([
			'/',
			'/assets/a.js',
			'/assets/b.css'
		]);
	});
	it('reuses files that have not changed since the last build', async () => {
		const { platform, requests } = makePlatform();
		await (await platform.caches.open('one')).put('/assets/a.js', new Response('same'));
		await cacheShell(SHELL, platform);
		expect(requests.sort()).toEqual(['/', '/assets/b.css']);
	});
	it('uses one connection at a time', async () => {
		const { platform } = makePlatform();
		const ask = platform.fetch;
		let [numPending, most] = [0, 0];
		platform.fetch = async (...request) => {
			most = Math.max(most, ++numPending);
			const response = await ask(...request);
			numPending -= 1;
			return response;
		};
		await cacheShell(SHELL, platform);
		expect(most).toBe(1);
	});
	it('is cached completely or not at all', async () => {
		const { platform } = makePlatform(
			(path) => new Response(path, { status: path === '/' ? 502 : 200 })
		);
		await expect(cacheShell(SHELL, platform)).rejects.toThrow('/ answered 502');
	});
	it('is the only cache after activation', async () => {
		const { platform, stores } = makePlatform();
		await platform.caches.open('one');
		await cacheShell(SHELL, platform);
		await deleteOldCaches(SHELL, platform);
		expect([...stores.keys()]).toEqual(['two']);
	});
});

describe('A page', () => {
	it('comes from the server while it answers', async () => {
		const { platform } = makePlatform();
		await cacheShell(SHELL, platform);
		const shown = await servePage(SHELL, Promise.resolve(new Response('fresh')), platform);
		expect(await shown.text()).toBe('fresh');
	});
	it.each([
		['nobody answers', fail],
		['only a proxy answers', () => Promise.resolve(new Response('Bad gateway', { status: 502 }))],
		['the answer does not come', () => new Promise<Response>(() => {})]
	])('comes from the cache when %s', async (_, request) => {
		const { platform } = makePlatform();
		await cacheShell(SHELL, platform);
		expect(await (await servePage(SHELL, request(), platform, 1)).text()).toBe('/');
	});
	it('that was never cached fails as without a service worker', async () => {
		await expect(servePage(SHELL, fail(), makePlatform().platform)).rejects.toThrow(
			'Failed to fetch'
		);
	});
});

describe('A file', () => {
	const request = new Request(`${ORIGIN}/assets/c.js`);

	it('is fetched once and then cached', async () => {
		const { platform, requests } = makePlatform();
		await serveFile(SHELL, request, platform);
		expect(await (await serveFile(SHELL, request, platform)).text()).toBe('/assets/c.js');
		expect(requests).toEqual(['/assets/c.js']);
	});
	it('that does not exist is not cached', async () => {
		const { platform, requests } = makePlatform(() => new Response('', { status: 404 }));
		await serveFile(SHELL, request, platform);
		await serveFile(SHELL, request, platform);
		expect(requests).toHaveLength(2);
	});
});

describe('The service worker handles only the page and its files:', () => {
	const request = (path: string, mode = 'navigate'): Request =>
		({ url: new URL(path, ORIGIN).href, method: 'GET', mode }) as Request;

	it.each(['/', '/c/1234', '/c/1234#message/5'])('%s is a page', (path) => {
		expect(classifyRequest(request(path), ORIGIN)).toBe('page');
	});
	it('a built file is a file', () => {
		expect(classifyRequest(request('/assets/index.js', 'no-cors'), ORIGIN)).toBe('file');
	});
	it.each(['/backend-api/me', '/backend-api/export', '/v1/models', '/share/abc', '/invite/abc'])(
		'%s is left alone',
		(path) => {
			expect(classifyRequest(request(path), ORIGIN)).toBeNull();
			expect(classifyRequest(request(path, 'cors'), ORIGIN)).toBeNull();
		}
	);
	it('so are other origins and other methods', () => {
		expect(classifyRequest(request('https://other.example/assets/a.js'), ORIGIN)).toBeNull();
		expect(classifyRequest(new Request(`${ORIGIN}/`, { method: 'POST' }), ORIGIN)).toBeNull();
	});
});
