// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { Prompt } from '$/api/wire';
import Prompts from '$/prompts/Prompts.svelte';
import { PARAMETERS } from '$/state/sampling';
import { de } from '$/words/de';
import { setWords } from '$/words/words';

const SAMPLING = {
	...Object.fromEntries(PARAMETERS.map((name) => [name, null])),
	policy: 'sample'
} as Prompt['shipped']['sampling'];

function promptOf(name: string, some: Partial<Prompt> = {}): Prompt {
	const shared = {
		name,
		about: `What ${name} is for.`,
		slots: [],
		is_in_chat: false,
		is_decoded: true
	};
	return {
		...shared,
		shipped: { ...shared, version: 1, template: 'Be brief.', sampling: SAMPLING, families: {} },
		versions: [],
		active: 1,
		misfits: {},
		sampling: null,
		experiment: null,
		...some
	};
}

const own = (version: number) => ({
	name: 'system',
	version,
	template: 'Be kind.',
	note: 'Netter',
	created_by: null,
	created_at: 1
});

let prompts: Prompt[];
let requests: [string, string, unknown][];
let page: object;

const api = new Api((path, init) => {
	requests.push([init?.method ?? '', path, JSON.parse((init?.body as string | null) ?? 'null')]);
	return Promise.resolve(Response.json({ items: prompts }));
});

const PromptsInGerman: typeof Prompts = (anchor, props) => {
	setWords(de);
	return Prompts(anchor, props);
};

async function settle(): Promise<void> {
	await vi.waitFor(() => expect(document.querySelector('li')).not.toBeNull());
	flushSync();
}

function button(name: string): HTMLButtonElement | undefined {
	const matches = (one: HTMLElement) => (one.ariaLabel ?? one.textContent ?? '').includes(name);
	return [...document.querySelectorAll('button')].find(matches);
}

beforeEach(async () => {
	document.documentElement.lang = 'de';
	requests = [];
	prompts = [
		promptOf('brand_new', { is_decoded: false }),
		promptOf('title'),
		promptOf('system', {
			versions: [own(1002), own(1001)],
			active: 1001,
			misfits: { 1002: 'Line 1: there is no slot `once`.' }
		})
	];
	const props = { api, oncompare: () => undefined };
	page = mount(PromptsInGerman, { target: document.body, props, context: new Map() });
	await settle();
});
afterEach(async () => {
	await unmount(page);
	document.documentElement.lang = '';
});

test('known prompts come first in their order, and an unknown one shows its own name', () => {
	const names = [...document.querySelectorAll('li bdi')].map(({ textContent }) => textContent);
	expect(names).toEqual(['Systemanweisung', 'Titel', 'brand_new']);
	expect(document.body.textContent).toContain('What brand_new is for.');
	expect(document.body.textContent).toContain('Fassung 1001, eigene');
});

test('a newer version is activated, and an older one rolled back to', async () => {
	button('Systemanweisung')?.click();
	flushSync();
	expect(button('Aktivieren: Fassung 1001')).toBeUndefined();
	expect(button('Zurückkehren zu Fassung 1')).toBeDefined();
	button('Aktivieren: Fassung 1002')?.click();
	await vi.waitFor(() => expect(document.body.textContent).toContain('gilt Fassung 1002'));
	expect(requests).toContainEqual(['PUT', '/backend-api/admin/prompts/system', { version: 1002 }]);
});

test('while versions are compared none can be activated', async () => {
	button('Systemanweisung')?.click();
	prompts = [promptOf('system', { ...prompts[2], experiment: { id: 'e', versions: [1, 1001] } })];
	flushSync();
	button('Aktivieren: Fassung 1002')?.click();
	await vi.waitFor(() => expect(document.body.textContent).toContain('Beende ihn'));
	expect(button('Aktivieren')).toBeUndefined();
});

test('a prompt that no model answers has no decoding', () => {
	button('Titel')?.click();
	flushSync();
	expect(document.body.textContent).toContain('Dekodierung');
	button('Alle Prompts')?.click();
	flushSync();
	button('brand_new')?.click();
	flushSync();
	expect(document.body.textContent).not.toContain('Dekodierung');
});

test('a version that no longer fits shows the reason', () => {
	button('Systemanweisung')?.click();
	flushSync();
	const misfit = document.querySelector('[data-version="1002"]')?.textContent;
	expect(misfit).toContain('passt nicht mehr');
	expect(misfit).toContain('wird niemandem gesagt: Line 1: there is no slot `once`.');
	expect(document.querySelector('[data-version="1001"]')?.textContent).not.toContain('passt nicht');
});
