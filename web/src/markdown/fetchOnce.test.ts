import { expect, test } from 'vitest';
import { fetchOnce } from '$/markdown/fetchOnce';

test('a module is fetched once, and again only after a failure', async () => {
	const answers = [Promise.reject(new TypeError('offline')), Promise.resolve('here')];
	const fetched = fetchOnce(() => answers.shift() ?? Promise.reject(new Error('a third time')));

	expect(await Promise.all([fetched(), fetched()])).toEqual([null, null]);
	expect(await fetched()).toBe('here');
	expect(await fetched()).toBe('here');
});
