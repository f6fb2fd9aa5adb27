// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { Preferences, PRESETS } from '$/state/preferences.svelte';

/** Not a module: the page runs it as a plain script. */
const FIRST = new URL('../first.ts', import.meta.url).pathname;
const root = document.documentElement;

beforeEach(() => {
	localStorage.clear();
	vi.resetModules();
});

async function opened(): Promise<Preferences> {
	const preferences = new Preferences(localStorage);
	await preferences.begin();
	return preferences;
}

test('what was chosen is there again after a reload', async () => {
	const before = await opened();
	await before.change({ theme: 'dark', textSize: 'large', density: 'compact', language: 'de' });
	const after = await opened();

	expect(after.theme).toBe('dark');
	expect(root.dataset).toMatchObject({ theme: 'dark', text: 'large', density: 'compact' });
	expect(root.lang).toBe('de');
	expect(after.words.desk.undo).toBe('Rückgängig');
});

test('the theme is known before anything is painted', async () => {
	await (await opened()).change({ theme: 'dark' });
	delete root.dataset['theme'];
	await import(/* @vite-ignore */ FIRST);

	expect(root.dataset['theme']).toBe('dark');
});

test.each([
	'',
	'{',
	'[]',
	'{"theme":"pink","language":"xx","custom":{"temperature":"hot"}}',
	'null'
])('%j in the storage is as on the first day', async (kept) => {
	localStorage.setItem('hitsend.preferences', kept);
	const preferences = await opened();

	expect(preferences.theme).toBe('system');
	expect(preferences.chosenLanguage).toBe('auto');
	expect(preferences.custom).toEqual({});
});

test('a preset asks for its numbers, and one’s own numbers for themselves', async () => {
	const preferences = await opened();
	expect(preferences.sampling).toEqual({});
	await preferences.change({ preset: 'exact' });
	expect(preferences.sampling).toEqual(PRESETS.exact);
	await preferences.change({ preset: 'custom', custom: { temperature: 0.3 } });

	expect(preferences.sampling).toEqual({ policy: 'sample', temperature: 0.3 });
});

test('a policy is kept with its numbers, and only one there is', async () => {
	const custom = { policy: 'beam', num_beams: 3 };
	localStorage.setItem('hitsend.preferences', JSON.stringify({ custom }));
	expect((await opened()).custom).toEqual(custom);
	localStorage.setItem('hitsend.preferences', '{"custom":{"policy":"guess","num_beams":3}}');
	expect((await opened()).custom).toEqual({ num_beams: 3 });
});

test('a browser that keeps nothing still shows what was chosen', async () => {
	const full = Object.create(localStorage, {
		setItem: {
			value: () => {
				throw new DOMException('full', 'QuotaExceededError');
			}
		},
		getItem: { value: () => null }
	}) as Storage;
	const preferences = new Preferences(full);
	await preferences.change({ theme: 'light' });

	expect(root.dataset['theme']).toBe('light');
});
