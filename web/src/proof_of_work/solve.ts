/**
 * Solves the proof of work: finds the first counter whose SHA3-512, after the seed, is at most the
 * difficulty. The server checks it in src/hitsend/wire/proof_of_work.py.
 */
import { sha3_512 } from '@noble/hashes/sha3.js';

export interface Task {
	seed: string;
	/** The largest allowed beginning of the hash, in hex. */
	difficulty: string;
	/** Eight random characters, so that no two pages search the same texts. */
	nonce: string;
}

const PREFIX = 'hs1.';

/** Takes seconds, so it runs in a worker. */
export function solve({ seed, difficulty, nonce }: Task): string {
	// These twelve characters are sixteen in base64 whatever follows, so they are hashed once.
	const start = btoa(`["${nonce}",`);
	const encoder = new TextEncoder();
	const startHash = sha3_512.create().update(encoder.encode(seed + start));
	const fullHash = startHash.clone();
	const digest = new Uint8Array(sha3_512.outputLen);
	const limit = toBytes(difficulty);
	for (let counter = 0; ; counter++) {
		const end = btoa(`${counter}]`);
		startHash._cloneInto(fullHash).update(encoder.encode(end)).digestInto(digest);
		if (isAtMost(digest, limit)) return PREFIX + start + end;
	}
}

/** An odd last digit is padded with f: the other half of that byte may be anything. */
function toBytes(difficulty: string): number[] {
	const digits = difficulty.length % 2 === 0 ? difficulty : `${difficulty}f`;
	return (digits.match(/../g) ?? []).map((byte) => parseInt(byte, 16));
}

/** Compares as many bytes as the limit has. */
function isAtMost(digest: Uint8Array, limit: number[]): boolean {
	for (const [i, byte] of limit.entries()) {
		if (digest[i] !== byte) return (digest[i] ?? 0) < byte;
	}
	return true;
}
