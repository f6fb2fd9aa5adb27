import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { solve } from '$/gate/solve';

const TASK = { seed: '0123456789abcdef0123456789abcdef', difficulty: '000fff', nonce: 'abcdefgh' };

test('what it finds hashes as small as it was asked to, and says nothing but a number', () => {
	const answer = solve(TASK);
	const payload = answer.replace(/^hs1\./, '');
	const hash = createHash('sha3-512')
		.update(TASK.seed + payload)
		.digest('hex');

	expect(hash.slice(0, 6) <= TASK.difficulty).toBe(true);
	expect(JSON.parse(atob(payload))).toEqual(['abcdefgh', expect.any(Number)]);
});

test('the first number that will do is the one', () => {
	const [, found] = JSON.parse(atob(solve(TASK).slice(4))) as [string, number];
	for (let counter = 0; counter < found; counter++) {
		const text = TASK.seed + btoa(`["abcdefgh",${counter}]`);
		const hash = createHash('sha3-512').update(text).digest('hex');
		expect(hash.slice(0, 6) > TASK.difficulty).toBe(true);
	}
});

test('a difficulty of an odd number of digits is compared digit by digit', () => {
	const answer = solve({ ...TASK, difficulty: '00f' });
	const hash = createHash('sha3-512')
		.update(TASK.seed + answer.slice(4))
		.digest('hex');

	expect(hash.slice(0, 3) <= '00f').toBe(true);
});
