// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import { Workspace } from '$/state/workspace.svelte';
import { Preferences } from '$/state/preferences.svelte';

function openWorkspace(api: Api): Workspace {
	const user = { id: 'u1', name: 'ada', role: 'admin' } as const;
	return new Workspace(api, new Preferences(localStorage), user, () => undefined);
}

test('closing a workspace removes its own socket, and no newer one', () => {
	const api = new Api(() => Promise.reject(new TypeError('Failed to fetch')));
	const before = openWorkspace(api);
	const after = openWorkspace(api);
	const { socket } = api;
	before.close();
	expect(api.socket).toBe(socket);
	after.close();

	expect(api.socket).toBeNull();
});
