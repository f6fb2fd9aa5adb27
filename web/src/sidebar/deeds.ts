/**
 * What a person does to their conversations from the list. The desk shows each deed at once, and
 * tells about it with a way to take it back.
 */
import type { ConversationSummary } from '$/api/wire';
import type { Desk } from '$/state/desk.svelte';
import type { Router } from '$/state/router.svelte';
import { fileNameOf, markdownOf } from '$/state/transcript';
import { save } from '$/ui/save';
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
		if (item.is_archived) void this.desk.unarchive(item.id);
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
		void this.desk.change(item.id, { folder_id: folderId }, told, { folder_id: item.folder_id });
	}

	/** What is shown of the open conversation, as a file. */
	save(): void {
		const { open } = this.desk;
		save(fileNameOf(open, this.#t), markdownOf(open, this.#t));
	}

	/** What was dragged from the list onto a folder, or out of one. */
	moveById(id: string, folderId: string | null): void {
		const item = this.desk.conversations.find(id);
		if (item !== undefined) this.move(item, folderId);
	}
}
