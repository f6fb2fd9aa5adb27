import { expect, test } from 'vitest';
import { Unreachable } from '$/api/client';
import { Attempt } from '$/state/attempt.svelte';
import { Fetched } from '$/state/fetched.svelte';

test('an attempt that fails says why, and one that goes well forgets it', async () => {
	const attempt = new Attempt();
	expect(await attempt.make(() => Promise.reject(new Unreachable()))).toBe(false);
	expect(attempt.problem?.code).toBe('unreachable');

	expect(await attempt.make(() => Promise.resolve())).toBe(true);
	expect(attempt.problem).toBeNull();
});

test('a second press while the first is under way does nothing', async () => {
	const attempt = new Attempt();
	let end: () => void = () => undefined;
	const first = attempt.make(() => new Promise<void>((resolve) => (end = resolve)));
	expect(attempt.isBusy).toBe(true);
	expect(await attempt.make(() => Promise.resolve())).toBe(false);

	end();
	expect(await first).toBe(true);
	expect(attempt.isBusy).toBe(false);
});

test('a bug is not taken for a failure', async () => {
	await expect(new Attempt().make(() => Promise.reject(new TypeError('bug')))).rejects.toThrow(
		'bug'
	);
});

test('what was fetched stays when it cannot be fetched again', async () => {
	let answer = () => Promise.resolve(['key']);
	const keys = new Fetched(() => answer());
	await keys.load();
	answer = () => Promise.reject(new Unreachable());
	await keys.load();

	expect(keys.value).toEqual(['key']);
	expect(keys.loading.problem?.code).toBe('unreachable');
});
