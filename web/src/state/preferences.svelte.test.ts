// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { Preferences, PRESETS } from '$/state/preferences.svelte';

/** Not a module: the page runs it as a plain script. */
const BOOT = new URL('../boot.ts', import.meta.url).pathname;
const root = document.documentElement;

beforeEach(() => {
	localStorage.clear();
	vi.resetModules();
});

async function loadPreferences(): Promise<Preferences> {
	const preferences = new Preferences(localStorage);
	await preferences.start();
	return preferences;
}

test('preferences survive a reload', async () => {
	const before = await loadPreferences();
	await before.change({ theme: 'dark', textSize: 'large', density: 'compact', language: 'de' });
	const after = await loadPreferences();

	expect(after.theme).toBe('dark');
	expect(root.dataset).toMatchObject({ theme: 'dark', text: 'large', density: 'compact' });
	expect(root.lang).toBe('de');
	expect(after.words.workspace.undo).toBe('Rückgängig');
});

test('the boot script sets the theme before the first paint', async () => {
	await (await loadPreferences()).change({ theme: 'dark' });
	delete root.dataset['theme'];
	await import(/* @vite-ignore */ BOOT);

	expect(root.dataset['theme']).toBe('dark');
});

test.each([
	'',
	'{',
	'[]',
	'{"theme":"pink","language":"xx","custom":{"temperature":"hot"}}',
	'null'
])('%j in storage gives the defaults', async (stored) => {
	localStorage.setItem('hitsend.preferences', stored);
	const preferences = await loadPreferences();

	expect(preferences.theme).toBe('system');
	expect(preferences.chosenLanguage).toBe('auto');
	expect(preferences.custom).toEqual({});
});

test('a preset has its sampling, and the custom preset the numbers of the person', async () => {
	const preferences = await loadPreferences();
	expect(preferences.sampling).toEqual({});
	await preferences.change({ preset: 'exact' });
	expect(preferences.sampling).toEqual(PRESETS.exact);
	await preferences.change({ preset: 'custom', custom: { temperature: 0.3 } });

	expect(preferences.sampling).toEqual({ policy: 'sample', temperature: 0.3 });
});

test('a stored policy is kept if it is known', async () => {
	const custom = { policy: 'beam', num_beams: 3 };
	localStorage.setItem('hitsend.preferences', JSON.stringify({ custom }));
	expect((await loadPreferences()).custom).toEqual(custom);
	localStorage.setItem('hitsend.preferences', '{"custom":{"policy":"guess","num_beams":3}}');
	expect((await loadPreferences()).custom).toEqual({ num_beams: 3 });
});

test('a choice applies even if storage is full', async () => {
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
