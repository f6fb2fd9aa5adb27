import { createHash, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { Sha3 } from '$/gate/sha3';

const NOTHING = new Uint8Array(0);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const known = (text: Uint8Array) => createHash('sha3-512').update(text).digest('hex');

test('it is SHA3-512, at every length around the edges of its blocks', () => {
	for (let length = 0; length < 3 * 72 + 2; length++) {
		const text = randomBytes(length);
		expect(hex(new Sha3(NOTHING).hash(text)), `${length} bytes`).toBe(known(text));
	}
});

test('what many texts begin with is read once, and each is hashed as a whole', () => {
	for (let length = 0; length < 160; length += 7) {
		const beginning = randomBytes(length);
		const sha3 = new Sha3(beginning);
		for (const end of [NOTHING, randomBytes(9), randomBytes(72), randomBytes(100)]) {
			expect(hex(sha3.hash(end))).toBe(known(Buffer.concat([beginning, end])));
		}
	}
});
