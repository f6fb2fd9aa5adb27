/**
 * A message that could not be sent yet, by conversation. It is kept beside the drafts, so it
 * outlives a reload and is forgotten with them.
 */
import type { Drafts } from '$/state/drafts';
import type { Letter } from '$/state/letter';

export class Outbox {
	#drafts: Drafts;

	constructor(drafts: Drafts) {
		this.#drafts = drafts;
	}

	of(conversationId: string | null): Letter | null {
		const kept = this.#drafts.of(place(conversationId));
		if (kept === '') return null;
		try {
			return JSON.parse(kept) as Letter;
		} catch {
			return null;
		}
	}

	keep(conversationId: string | null, letter: Letter | null): void {
		this.#drafts.keep(place(conversationId), letter === null ? '' : JSON.stringify(letter));
	}
}

function place(conversationId: string | null): string {
	return `${conversationId ?? 'new'}.outbox`;
}
