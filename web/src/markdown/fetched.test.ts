import { expect, test } from 'vitest';
import { fetchedOnce } from '$/markdown/fetched';

test('a part is fetched once, and again only if it did not come', async () => {
	const answers = [Promise.reject(new TypeError('offline')), Promise.resolve('here')];
	const fetched = fetchedOnce(() => answers.shift() ?? Promise.reject(new Error('a third time')));

	expect(await Promise.all([fetched(), fetched()])).toEqual([null, null]);
	expect(await fetched()).toBe('here');
	expect(await fetched()).toBe('here');
});
