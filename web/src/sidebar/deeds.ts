/**
 * What a person does to their conversations from the list. Each deed is seen at once and told
 * about, with a way to take it back; one that fails says why.
 */
import { failureOf } from '$/api/client';
import type { ConversationChange, ConversationSummary } from '$/api/wire';
import type { Desk } from '$/state/desk.svelte';
import type { Router } from '$/state/router.svelte';
import { sentenceOf } from '$/words/problem';
import type { Words } from '$/words/words';

export class Deeds {
	readonly desk: Desk;
	#router: Router;
	#t: Words;
	#onleave: () => void;

	/** `onleave` is told when the list has done its part: a drawer closes then. */
	constructor(desk: Desk, router: Router, t: Words, onleave: () => void) {
		this.desk = desk;
		this.#router = router;
		this.#t = t;
		this.#onleave = onleave;
	}

	titleOf = ({ title }: ConversationSummary) => (title === '' ? this.#t.sidebar.untitled : title);

	/** Follows a link without a reload, unless it is wanted in another tab. */
	follow(event: MouseEvent, path: string): void {
		if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
		event.preventDefault();
		this.#router.go(path);
		this.#onleave();
	}

	pin(item: ConversationSummary): void {
		void this.desk.togglePin(item.id);
	}

	archive(item: ConversationSummary): void {
		if (item.is_archived) this.#unarchive(item);
		else void this.desk.archive(item.id);
	}

	remove(item: ConversationSummary): void {
		void this.desk.remove(item.id);
	}

	move(item: ConversationSummary, folderId: string | null): void {
		if (item.folder_id === folderId) return;
		const folder = this.desk.conversations.folders.find(folderId);
		const { moved, movedOut } = this.#t.sidebar;
		const title = this.titleOf(item);
		const told = folder === undefined ? movedOut(title) : moved(title, folder.name);
		void this.#change(item.id, { folder_id: folderId }, told, { folder_id: item.folder_id });
	}

	/** What was dragged from the list onto a folder, or out of one. */
	moveById(id: string, folderId: string | null): void {
		const item = this.desk.conversations.find(id);
		if (item !== undefined) this.move(item, folderId);
	}

	#unarchive(item: ConversationSummary): void {
		const told = this.#t.sidebar.wasUnarchived(this.titleOf(item));
		void this.#change(item.id, { is_archived: false }, told, { is_archived: true });
	}

	async #change(
		id: string,
		change: ConversationChange,
		told: string,
		back: ConversationChange
	): Promise<void> {
		const isDone = await this.#attempt(id, change);
		const run = () => void this.#attempt(id, back);
		if (isDone) this.desk.notices.tell(told, { label: this.#t.sidebar.undo, run });
	}

	async #attempt(id: string, change: ConversationChange): Promise<boolean> {
		try {
			await this.desk.conversations.change(id, change);
			return true;
		} catch (error) {
			this.desk.notices.warn(sentenceOf(failureOf(error), this.#t));
			return false;
		}
	}
}
