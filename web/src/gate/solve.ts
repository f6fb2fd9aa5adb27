/**
 * The work itself: a counter is searched for whose text, begun with the seed, hashes small enough.
 * src/hitsend/wire/proof.py tells whether it was found.
 */
import { Sha3 } from '$/gate/sha3';

export interface Task {
	seed: string;
	/** The largest beginning the hash may have, in hex. */
	difficulty: string;
	/** Eight letters, so that nobody searches what another has searched. */
	nonce: string;
}

const PREFIX = 'hs1.';

/** Takes as long as it takes: in a worker. */
export function solve({ seed, difficulty, nonce }: Task): string {
	// Twelve letters are sixteen in base64, whatever follows: so they are hashed once.
	const begun = btoa(`["${nonce}",`);
	const encoder = new TextEncoder();
	const sha3 = new Sha3(encoder.encode(seed + begun));
	const most = bytesOf(difficulty);
	for (let counter = 0; ; counter++) {
		const end = btoa(`${counter}]`);
		if (isAtMost(sha3.hash(encoder.encode(end)), most)) return PREFIX + begun + end;
	}
}

/** Half a byte at the end may be anything. */
function bytesOf(difficulty: string): number[] {
	const digits = difficulty.length % 2 === 0 ? difficulty : `${difficulty}f`;
	return (digits.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
}

/** Whether a hash begins with these bytes, or with smaller ones. */
function isAtMost(hash: Uint8Array, most: number[]): boolean {
	for (const [i, byte] of most.entries()) {
		if (hash[i] !== byte) return (hash[i] ?? 0) < byte;
	}
	return true;
}
