/**
 * Finds keys, tokens and card numbers in a message before it leaves the page. The server's
 * src/hitsend/safety/secrets.py finds the same ones; tests/secrets.json holds both to that.
 */
import { CARD, MIN_DISTINCT, NUM_SHOWN, PATTERNS, type SecretKind } from '$/safety/patterns.gen';

export type { SecretKind };

export interface FoundSecret {
	kind: SecretKind;
	start: number;
	end: number;
	text: string;
}

/** Returns the secrets in order and without overlaps. */
export function findSecrets(text: string): FoundSecret[] {
	const candidates = (Object.keys(PATTERNS) as SecretKind[]).flatMap((kind) =>
		[...text.matchAll(PATTERNS[kind])]
			.filter(([found]) => isReal(kind, found))
			.map(({ 0: found, index }) => ({
				kind,
				start: index,
				end: index + found.length,
				text: found
			}))
	);
	candidates.sort((a, b) => a.start - b.start || b.end - a.end);
	let end = 0;
	return candidates.filter((secret) => {
		const isFree = secret.start >= end;
		if (isFree) end = secret.end;
		return isFree;
	});
}

/** Returns as much of a secret as its owner needs to recognise it. */
export function maskSecret({ kind, text }: FoundSecret): string {
	if (kind === 'private_key') return '…';
	if (kind === 'url_password') return `${text.split(':', 1)[0] ?? ''}://…`;
	if (kind === 'card_number') return `•••• ${text.slice(-NUM_SHOWN)}`;
	return `${text.slice(0, NUM_SHOWN)}…${text.slice(-NUM_SHOWN)}`;
}

/** Replaces each secret with what `describe` says of it. */
export function replaceSecrets(
	text: string,
	secrets: FoundSecret[],
	describe: (kind: SecretKind) => string
): string {
	let rest = 0;
	const pieces = secrets.map(({ kind, start, end }) => {
		const piece = text.slice(rest, start) + describe(kind);
		rest = end;
		return piece;
	});
	return pieces.join('') + text.slice(rest);
}

function isReal(kind: SecretKind, text: string): boolean {
	if (kind !== 'card_number') return new Set(text).size >= MIN_DISTINCT;
	const digits = text.replace(/[ -]/g, '');
	return CARD.test(digits) && hasValidCheckDigit(digits);
}

/** By Luhn's algorithm. A number of equal digits has none. */
function hasValidCheckDigit(digits: string): boolean {
	let total = 0;
	[...digits].reverse().forEach((digit, i) => {
		const value = Number(digit) * (1 + (i % 2));
		total += value > 9 ? value - 9 : value;
	});
	return total % 10 === 0 && new Set(digits).size > 1;
}
