// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import { Desk } from '$/state/desk.svelte';
import { Preferences } from '$/state/preferences.svelte';

function deskAt(api: Api): Desk {
	const user = { id: 'u1', name: 'ada', role: 'admin' } as const;
	return new Desk(api, new Preferences(localStorage), user, () => undefined);
}

test('a desk that is left takes its own socket along, and nobody else’s', () => {
	const api = new Api(() => Promise.reject(new TypeError('Failed to fetch')));
	const before = deskAt(api);
	const after = deskAt(api);
	const { topics } = api;
	before.leave();
	expect(api.topics).toBe(topics);
	after.leave();

	expect(api.topics).toBeNull();
});
