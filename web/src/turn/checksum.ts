/** Checks that the text assembled from the stream is the text that the server stored. */
import type { Checksum, Message } from '$/api/wire';

export async function matchesChecksums(
	messages: Message[],
	checksums: Checksum[]
): Promise<boolean> {
	const texts = new Map(messages.map(({ id, content }) => [id, content.parts[0] ?? '']));
	const checks = checksums.map((checksum) => matches(texts.get(checksum.id), checksum));
	return (await Promise.all(checks)).every(Boolean);
}

async function matches(text: string | undefined, { chars, sha256 }: Checksum): Promise<boolean> {
	if (text === undefined) return false;
	// Browsers offer hashes on https and localhost only. Elsewhere the length is compared.
	if (globalThis.crypto.subtle === undefined) return [...text].length === chars;
	const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
	const hex = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0'));
	return hex.join('') === sha256;
}
