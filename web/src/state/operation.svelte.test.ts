import { expect, test } from 'vitest';
import { Unreachable } from '$/api/http';
import { Operation, Resource } from '$/state/operation.svelte';

test('a failed operation has a problem, which a success clears', async () => {
	const operation = new Operation();
	expect(await operation.run(() => Promise.reject(new Unreachable()))).toBe(false);
	expect(operation.problem?.code).toBe('unreachable');

	expect(await operation.run(() => Promise.resolve())).toBe(true);
	expect(operation.problem).toBeNull();
});

test('a second run while the first is busy does nothing', async () => {
	const operation = new Operation();
	let end: () => void = () => undefined;
	const first = operation.run(() => new Promise<void>((resolve) => (end = resolve)));
	expect(operation.isBusy).toBe(true);
	expect(await operation.run(() => Promise.resolve())).toBe(false);

	end();
	expect(await first).toBe(true);
	expect(operation.isBusy).toBe(false);
});

test('a bug is thrown, not shown as a problem', async () => {
	await expect(new Operation().run(() => Promise.reject(new TypeError('bug')))).rejects.toThrow(
		'bug'
	);
});

test('a failed fetch keeps the old value', async () => {
	let answer = () => Promise.resolve(['key']);
	const keys = new Resource(() => answer());
	await keys.load();
	answer = () => Promise.reject(new Unreachable());
	await keys.load();

	expect(keys.value).toEqual(['key']);
	expect(keys.loading.problem?.code).toBe('unreachable');
});
