import { expect, test } from 'vitest';
import { ApiError } from '$/api/http';
import { ConfirmedActions } from '$/settings/confirmed.svelte';

const needsPassword = () => Promise.reject(new ApiError('Type it.', 403, 'password_required'));

/** Fails until the password was given. */
function createAction() {
	let numTries = 0;
	return () => (numTries++ === 0 ? needsPassword() : Promise.resolve('done'));
}

test('an action runs at once where the password was given lately', async () => {
	const actions = new ConfirmedActions();

	expect(await actions.run(() => Promise.resolve('done'))).toBe('done');
	expect(actions.isAsking).toBe(false);
});

test('an action that needs the password runs once it was given', async () => {
	const actions = new ConfirmedActions();
	const running = actions.run(createAction());
	await expect.poll(() => actions.isAsking).toBe(true);
	actions.answer(true);

	expect(await running).toBe('done');
	expect(actions.isAsking).toBe(false);
});

test('an action does not run if the person gives no password', async () => {
	const actions = new ConfirmedActions();
	const running = actions.run(createAction());
	await expect.poll(() => actions.isAsking).toBe(true);
	actions.answer(false);

	expect(await running).toBeUndefined();
});

test('other failures are passed on', async () => {
	const refuse = () => Promise.reject(new ApiError('No.', 400, 'invalid_request'));

	await expect(new ConfirmedActions().run(refuse)).rejects.toThrow('No.');
});
