/**
 * Finds passwords that are easy to guess, while they are typed. The server's
 * src/hitsend/safety/passwords.py says how, and decides; tests/passwords.json holds both together.
 */
import {
	LOOK_ALIKES,
	MIN_PIECE_CHARS,
	MIN_STRENGTH,
	PIECE_STRENGTH,
	SEQUENCES,
	WORDS
} from '$/safety/commonPasswords.gen';

const PATTERNS = [/(?:19|20)[0-9]{2}/y, /(.)\1{2,}/suy];
const REPETITION = /^(.+?)\1+$/su;

/** `name` is the account's. */
export function isEasyToGuess(password: string, name = ''): boolean {
	const typed = normalize(password);
	const repeated = REPETITION.exec(typed)?.[1];
	const plain = repeated ?? typed;
	let strength = repeated === undefined ? 0 : PIECE_STRENGTH;
	const spellings = [plain, ...LOOK_ALIKES.map((letters) => decode(plain, letters))];
	const words = [...WORDS, ...listPartsOfName(name)];
	for (let position = 0; position < plain.length && strength < MIN_STRENGTH;) {
		const length = Math.max(
			...spellings.map((spelling) => wordLength(spelling, position, words)),
			...PATTERNS.map((pattern) => matchLength(pattern, plain, position)),
			sequenceLength(plain, position)
		);
		const isPiece = length >= MIN_PIECE_CHARS;
		strength += isPiece ? PIECE_STRENGTH : 1;
		position += isPiece ? length : String.fromCodePoint(plain.codePointAt(position) ?? 0).length;
	}
	return strength < MIN_STRENGTH;
}

function normalize(text: string): string {
	return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, '');
}

function decode(plain: string, letters: Record<string, string>): string {
	return plain.replace(/./gsu, (char) => letters[char] ?? char);
}

function listPartsOfName(name: string): string[] {
	const parts = name
		.normalize('NFKC')
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u);
	return [normalize(name), ...parts].filter((part) => [...part].length >= MIN_PIECE_CHARS);
}

function wordLength(text: string, position: number, words: string[]): number {
	return Math.max(
		0,
		...words.filter((word) => text.startsWith(word, position)).map((word) => word.length)
	);
}

function matchLength(pattern: RegExp, text: string, position: number): number {
	pattern.lastIndex = position;
	return pattern.exec(text)?.[0].length ?? 0;
}

function sequenceLength(plain: string, position: number): number {
	let end = position + MIN_PIECE_CHARS;
	for (const row of SEQUENCES) {
		while (end <= plain.length && row.includes(plain.slice(position, end))) end += 1;
	}
	return end - 1 - position;
}
