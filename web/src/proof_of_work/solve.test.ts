import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { solve } from '$/proof_of_work/solve';

const TASK = { seed: '0123456789abcdef0123456789abcdef', difficulty: '000fff', nonce: 'abcdefgh' };

const sha3 = (text: string) => createHash('sha3-512').update(text).digest('hex');

test('the solution hashes to at most the difficulty, and contains only the nonce and a number', () => {
	const payload = solve(TASK).replace(/^hs1\./, '');

	expect(sha3(TASK.seed + payload).slice(0, 6) <= TASK.difficulty).toBe(true);
	expect(JSON.parse(atob(payload))).toEqual(['abcdefgh', expect.any(Number)]);
});

test('the solution is the first counter that fits', () => {
	const [, found] = JSON.parse(atob(solve(TASK).slice(4))) as [string, number];
	for (let counter = 0; counter < found; counter++) {
		const hash = sha3(TASK.seed + btoa(`["abcdefgh",${counter}]`));
		expect(hash.slice(0, 6) > TASK.difficulty).toBe(true);
	}
});

test('a difficulty with an odd number of digits is compared digit by digit', () => {
	const solution = solve({ ...TASK, difficulty: '00f' });

	expect(sha3(TASK.seed + solution.slice(4)).slice(0, 3) <= '00f').toBe(true);
});

test('seeds of every length around the edges of a hash block are solved', () => {
	for (let length = 0; length < 3 * 72; length++) {
		const seed = 's'.repeat(length);
		const solution = solve({ ...TASK, seed, difficulty: '0f' });

		expect(sha3(seed + solution.slice(4)).slice(0, 2) <= '0f', `${length}`).toBe(true);
	}
});
