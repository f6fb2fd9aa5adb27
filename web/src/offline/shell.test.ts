import { describe, expect, it } from 'vitest';
import { file, keep, kindOf, page, route, tidy, type World } from '$/offline/shell';

const ORIGIN = 'https://chat.example';
const SHELL = { version: 'two', files: ['/assets/a.js', '/assets/b.css'] };

/** A browser's caches, and a server that counts what it is asked. */
function makeWorld(answer: (path: string) => Response = (path) => new Response(path)) {
	const stores = new Map<string, Map<string, Response>>();
	const asked: string[] = [];
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
		asked.push(pathOf(request));
		return answer(pathOf(request));
	};
	return { world: { caches, fetch } as unknown as World, stores, asked };
}

const gone = (): Promise<Response> => Promise.reject(new TypeError('Failed to fetch'));

it('is installed whatever a browser makes of our routes', async () => {
	await route({});
	const asked: unknown[] = [];
	await route({
		addRoutes: (rules) => {
			asked.push(...rules);
			return Promise.reject(new TypeError('No such rule'));
		}
	});
	expect(asked).toHaveLength(1);
});

describe('The kept shell', () => {
	it('is the page and the files of its first screen', async () => {
		const { world, stores } = makeWorld();
		await keep(SHELL, world);
		expect([...(stores.get('two')?.keys() ?? [])].sort()).toEqual([
			'/',
			'/assets/a.js',
			'/assets/b.css'
		]);
	});
	it('takes over files that have not changed since the last build', async () => {
		const { world, asked } = makeWorld();
		await (await world.caches.open('one')).put('/assets/a.js', new Response('same'));
		await keep(SHELL, world);
		expect(asked.sort()).toEqual(['/', '/assets/b.css']);
	});
	it('leaves all connections but one to whoever uses the page', async () => {
		const { world } = makeWorld();
		const ask = world.fetch;
		let [numAsking, most] = [0, 0];
		world.fetch = async (...asked) => {
			most = Math.max(most, ++numAsking);
			const response = await ask(...asked);
			numAsking -= 1;
			return response;
		};
		await keep(SHELL, world);
		expect(most).toBe(1);
	});
	it('is kept whole or not at all', async () => {
		const { world } = makeWorld((path) => new Response(path, { status: path === '/' ? 502 : 200 }));
		await expect(keep(SHELL, world)).rejects.toThrow('/ answered 502');
	});
	it('is the only one after it has taken over', async () => {
		const { world, stores } = makeWorld();
		await world.caches.open('one');
		await keep(SHELL, world);
		await tidy(SHELL, world);
		expect([...stores.keys()]).toEqual(['two']);
	});
});

describe('A page', () => {
	it('is the one of the server while there is one', async () => {
		const { world } = makeWorld();
		await keep(SHELL, world);
		const shown = await page(SHELL, Promise.resolve(new Response('fresh')), world);
		expect(await shown.text()).toBe('fresh');
	});
	it.each([
		['nobody answers', gone],
		['only a proxy answers', () => Promise.resolve(new Response('Bad gateway', { status: 502 }))],
		['the answer does not come', () => new Promise<Response>(() => {})]
	])('is the kept one when %s', async (_, asked) => {
		const { world } = makeWorld();
		await keep(SHELL, world);
		expect(await (await page(SHELL, asked(), world, 1)).text()).toBe('/');
	});
	it('that was never kept fails as it would without us', async () => {
		await expect(page(SHELL, gone(), makeWorld().world)).rejects.toThrow('Failed to fetch');
	});
});

describe('A file', () => {
	const request = new Request(`${ORIGIN}/assets/c.js`);

	it('is asked for once and kept from then on', async () => {
		const { world, asked } = makeWorld();
		await file(SHELL, request, world);
		expect(await (await file(SHELL, request, world)).text()).toBe('/assets/c.js');
		expect(asked).toEqual(['/assets/c.js']);
	});
	it('that is not there is not kept', async () => {
		const { world, asked } = makeWorld(() => new Response('', { status: 404 }));
		await file(SHELL, request, world);
		await file(SHELL, request, world);
		expect(asked).toHaveLength(2);
	});
});

describe('Only the page and its files are ours:', () => {
	const visit = (path: string, mode = 'navigate'): Request =>
		({ url: new URL(path, ORIGIN).href, method: 'GET', mode }) as Request;

	it.each(['/', '/c/1234', '/c/1234#message/5'])('%s is a page', (path) => {
		expect(kindOf(visit(path), ORIGIN)).toBe('page');
	});
	it('a built file is a file', () => {
		expect(kindOf(visit('/assets/index.js', 'no-cors'), ORIGIN)).toBe('file');
	});
	it.each(['/backend-api/me', '/backend-api/export', '/v1/models', '/share/abc', '/invite/abc'])(
		'%s is left alone',
		(path) => {
			expect(kindOf(visit(path), ORIGIN)).toBeNull();
			expect(kindOf(visit(path, 'cors'), ORIGIN)).toBeNull();
		}
	);
	it('so is whatever is elsewhere, or is not asked for but sent', () => {
		expect(kindOf(visit('https://other.example/assets/a.js'), ORIGIN)).toBeNull();
		expect(kindOf(new Request(`${ORIGIN}/`, { method: 'POST' }), ORIGIN)).toBeNull();
	});
});
