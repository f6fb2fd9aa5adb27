/**
 * SHA3-512 (FIPS 202), for the proof of work: browsers have no SHA3 of their own. A lane of 64 bits
 * is kept as two halves of 32, the lower one first. Written to be run very often.
 */
const RATE_BYTES = 72;
const RATE_WORDS = RATE_BYTES / 4;
const HASH_BYTES = 64;
const NUM_LANES = 25;
const NUM_ROUNDS = 24;

const CONSTANTS = constants();
const STEPS = steps();

/** Hashes many texts that begin alike: what they share is read once. */
export class Sha3 {
	#begun = new Int32Array(2 * NUM_LANES);
	#state = new Int32Array(2 * NUM_LANES);
	/** What is left of the beginning, and has not filled a block. */
	#left: Uint8Array;

	constructor(beginning: Uint8Array) {
		const numWhole = beginning.length - (beginning.length % RATE_BYTES);
		// Every browser keeps its numbers with the lowest byte first, as SHA3 wants them.
		absorb(this.#begun, new Int32Array(new Uint8Array(beginning.subarray(0, numWhole)).buffer));
		this.#left = beginning.subarray(numWhole);
	}

	/** The hash of the beginning and this end. */
	hash(end: Uint8Array): Uint8Array<ArrayBuffer> {
		this.#state.set(this.#begun);
		absorb(this.#state, padded(this.#left, end));
		return new Uint8Array(this.#state.buffer.slice(0, HASH_BYTES));
	}
}

/** With the bits that say where it ends, up to the end of a block. */
function padded(first: Uint8Array, second: Uint8Array): Int32Array {
	const length = first.length + second.length;
	const text = new Uint8Array((Math.floor(length / RATE_BYTES) + 1) * RATE_BYTES);
	text.set(first);
	text.set(second, first.length);
	text[length] = 0x06;
	text[text.length - 1] = (text.at(-1) ?? 0) | 0x80;
	return new Int32Array(text.buffer);
}

function absorb(state: Int32Array, words: Int32Array): void {
	for (let at = 0; at < words.length; at += RATE_WORDS) {
		for (let i = 0; i < RATE_WORDS; i++) state[i] = get(state, i) ^ get(words, at + i);
		permute(state);
	}
}

const columns = new Int32Array(10);

/** Keccak-f[1600]. */
function permute(state: Int32Array): void {
	for (let round = 0; round < NUM_ROUNDS; round++) {
		theta(state);
		rhoAndPi(state);
		chi(state);
		state[0] = get(state, 0) ^ get(CONSTANTS, 2 * round);
		state[1] = get(state, 1) ^ get(CONSTANTS, 2 * round + 1);
	}
}

function theta(s: Int32Array): void {
	for (let i = 0; i < 10; i++) {
		columns[i] = get(s, i) ^ get(s, i + 10) ^ get(s, i + 20) ^ get(s, i + 30) ^ get(s, i + 40);
	}
	for (let x = 0; x < 10; x += 2) {
		const before = x === 0 ? 8 : x - 2;
		const after = x === 8 ? 0 : x + 2;
		const low = get(columns, after);
		const high = get(columns, after + 1);
		const mixLow = get(columns, before) ^ ((low << 1) | (high >>> 31));
		const mixHigh = get(columns, before + 1) ^ ((high << 1) | (low >>> 31));
		for (let i = x; i < 50; i += 10) {
			s[i] = get(s, i) ^ mixLow;
			s[i + 1] = get(s, i + 1) ^ mixHigh;
		}
	}
}

/** Each lane goes to where the next one was, and is turned on the way: never by a half or a whole. */
function rhoAndPi(s: Int32Array): void {
	let low = get(s, 2);
	let high = get(s, 3);
	for (let i = 0; i < STEPS.length; i += 2) {
		const place = get(STEPS, i);
		const turn = get(STEPS, i + 1);
		const nextLow = get(s, place);
		const nextHigh = get(s, place + 1);
		const a = turn < 32 ? low : high;
		const b = turn < 32 ? high : low;
		s[place] = (a << turn) | (b >>> (32 - turn));
		s[place + 1] = (b << turn) | (a >>> (32 - turn));
		low = nextLow;
		high = nextHigh;
	}
}

function chi(s: Int32Array): void {
	for (let at = 0; at < 50; at++) {
		const a = get(s, at);
		const b = get(s, at + 2);
		const c = get(s, at + 4);
		const d = get(s, at + 6);
		const e = get(s, at + 8);
		s[at] = a ^ (~b & c);
		s[at + 2] = b ^ (~c & d);
		s[at + 4] = c ^ (~d & e);
		s[at + 6] = d ^ (~e & a);
		s[at + 8] = e ^ (~a & b);
		if (at % 2 === 1) at += 8;
	}
}

function get(words: Int32Array, at: number): number {
	return words[at] ?? 0;
}

/** In the order of the walk: where a lane goes to, and by how many bits it is turned. */
function steps(): Int32Array {
	const found: number[] = [];
	let [x, y] = [1, 0];
	for (let t = 1; t < NUM_LANES; t++) {
		[x, y] = [y, (2 * x + 3 * y) % 5];
		found.push(2 * (x + 5 * y), ((t * (t + 1)) / 2) % 64);
	}
	return Int32Array.from(found);
}

/** Seven bits a round out of a shift register. */
function constants(): Int32Array {
	const found = new Int32Array(2 * NUM_ROUNDS);
	let register = 1;
	for (let i = 0; i < 7 * NUM_ROUNDS; i++) {
		const bit = 2 ** (i % 7) - 1;
		const word = 2 * Math.floor(i / 7) + (bit >> 5);
		if (register & 1) found[word] = get(found, word) ^ (1 << (bit & 31));
		register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
	}
	return found;
}
