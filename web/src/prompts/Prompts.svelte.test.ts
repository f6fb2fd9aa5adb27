// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { Prompt } from '$/prompts/calls';
import Prompts from '$/prompts/Prompts.svelte';
import { NAMES } from '$/settings/sampling';
import { de } from '$/words/de';
import { setWords } from '$/words/words';

const SAMPLING = {
	...Object.fromEntries(NAMES.map((name) => [name, null])),
	policy: 'sample'
} as Prompt['shipped']['sampling'];

function promptOf(name: string, some: Partial<Prompt> = {}): Prompt {
	return {
		name,
		about: `What ${name} is for.`,
		slots: [],
		is_in_chat: false,
		is_decoded: true,
		shipped: { version: 1, template: 'Be brief.', sampling: SAMPLING, families: {} },
		versions: [],
		active: 1,
		misfits: {},
		sampling: null,
		experiment: null,
		...some
	};
}

const own = (version: number) => ({
	version,
	template: 'Be kind.',
	note: 'Netter',
	created_by: null,
	created_at: 1
});

let prompts: Prompt[];
let asked: [string, string, unknown][];
let page: object;

const api = new Api((path, init) => {
	asked.push([init?.method ?? '', path, JSON.parse((init?.body as string | null) ?? 'null')]);
	return Promise.resolve(Response.json({ items: prompts }));
});

const inGerman: typeof Prompts = (anchor, props) => {
	setWords(de);
	return Prompts(anchor, props);
};

async function settle(): Promise<void> {
	await vi.waitFor(() => expect(document.querySelector('li')).not.toBeNull());
	flushSync();
}

function button(name: string): HTMLButtonElement | undefined {
	const isIt = (one: HTMLElement) => (one.ariaLabel ?? one.textContent ?? '').includes(name);
	return [...document.querySelectorAll('button')].find(isIt);
}

beforeEach(async () => {
	document.documentElement.lang = 'de';
	asked = [];
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
	page = mount(inGerman, { target: document.body, props, context: new Map() });
	await settle();
});
afterEach(async () => {
	await unmount(page);
	document.documentElement.lang = '';
});

test('what matters most comes first, and what has no words yet goes by its own name', () => {
	const names = [...document.querySelectorAll('li bdi')].map(({ textContent }) => textContent);
	expect(names).toEqual(['Systemanweisung', 'Titel', 'brand_new']);
	expect(document.body.textContent).toContain('What brand_new is for.');
	expect(document.body.textContent).toContain('Fassung 1001, eigene');
});

test('a newer version is activated, an older one gone back to', async () => {
	button('Systemanweisung')?.click();
	flushSync();
	expect(button('Aktivieren: Fassung 1001')).toBeUndefined();
	expect(button('Zurückkehren zu Fassung 1')).toBeDefined();
	button('Aktivieren: Fassung 1002')?.click();
	await vi.waitFor(() => expect(document.body.textContent).toContain('gilt Fassung 1002'));
	expect(asked).toContainEqual(['PUT', '/backend-api/admin/prompts/system', { version: 1002 }]);
});

test('while versions are compared none can be activated', async () => {
	button('Systemanweisung')?.click();
	prompts = [promptOf('system', { ...prompts[2], experiment: { id: 'e', versions: [1, 1001] } })];
	flushSync();
	button('Aktivieren: Fassung 1002')?.click();
	await vi.waitFor(() => expect(document.body.textContent).toContain('Beende ihn'));
	expect(button('Aktivieren')).toBeUndefined();
});

test('a note has no decoding of its own', () => {
	button('Titel')?.click();
	flushSync();
	expect(document.body.textContent).toContain('Dekodierung');
	button('Alle Prompts')?.click();
	flushSync();
	button('brand_new')?.click();
	flushSync();
	expect(document.body.textContent).not.toContain('Dekodierung');
});

test('a version that no longer fits is shown with the reason, and is not the active one', () => {
	button('Systemanweisung')?.click();
	flushSync();
	const misfit = document.querySelector('[data-version="1002"]')?.textContent;
	expect(misfit).toContain('passt nicht mehr');
	expect(misfit).toContain('wird niemandem gesagt: Line 1: there is no slot `once`.');
	expect(document.querySelector('[data-version="1001"]')?.textContent).not.toContain('passt nicht');
});
