/** Whether the text we put together is the text the server stored, letter for letter. */
import type { Message } from '$/api/wire';

export interface Proof {
	id: string;
	chars: number;
	sha256: string;
}

export async function isWhole(messages: Message[], proofs: Proof[]): Promise<boolean> {
	const texts = new Map(messages.map(({ id, content }) => [id, content.parts[0] ?? '']));
	const checks = proofs.map((proof) => matches(texts.get(proof.id), proof));
	return (await Promise.all(checks)).every(Boolean);
}

async function matches(text: string | undefined, proof: Proof): Promise<boolean> {
	if (text === undefined) return false;
	// Browsers offer hashes on https and on this machine only; elsewhere the length must do.
	if (globalThis.crypto.subtle === undefined) return [...text].length === proof.chars;
	const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
	return (
		new Uint8Array(hash).reduce((hex, b) => hex + b.toString(16).padStart(2, '0'), '') ===
		proof.sha256
	);
}
