/** The actions of the sidebar on conversations. The workspace applies each at once and offers an undo. */
import type { ConversationSummary } from '$/api/wire';
import { downloadMarkdown } from '$/state/markdownExport';
import type { Router } from '$/state/router.svelte';
import type { Workspace } from '$/state/workspace.svelte';
import type { Words } from '$/words/words';

export class SidebarActions {
	readonly workspace: Workspace;
	#router: Router;
	#t: Words;
	#onnavigate: () => void;

	/** `onnavigate` is called after a link was followed, to close the drawer. */
	constructor(workspace: Workspace, router: Router, t: Words, onnavigate: () => void) {
		this.workspace = workspace;
		this.#router = router;
		this.#t = t;
		this.#onnavigate = onnavigate;
	}

	titleOf = ({ title }: ConversationSummary) => (title === '' ? this.#t.sidebar.untitled : title);

	/** Follows a link without a reload, unless the click opens another tab. */
	follow(event: MouseEvent, path: string): void {
		if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
		event.preventDefault();
		this.#router.go(path);
		this.#onnavigate();
	}

	pin(item: ConversationSummary): void {
		void this.workspace.togglePin(item.id);
	}

	archive(item: ConversationSummary): void {
		if (item.is_archived) void this.workspace.unarchive(item.id);
		else void this.workspace.archive(item.id);
	}

	remove(item: ConversationSummary): void {
		void this.workspace.remove(item.id);
	}

	move(item: ConversationSummary, folderId: string | null): void {
		if (item.folder_id === folderId) return;
		const folder = this.workspace.conversations.folders.find(folderId);
		const { moved, movedOut } = this.#t.sidebar;
		const title = this.titleOf(item);
		const message = folder === undefined ? movedOut(title) : moved(title, folder.name);
		void this.workspace.change(item.id, { folder_id: folderId }, message, {
			folder_id: item.folder_id
		});
	}

	/** Saves the open conversation as a Markdown file. */
	save(): void {
		const { open } = this.workspace;
		downloadMarkdown(open, this.#t);
	}

	/** Moves a conversation that was dropped onto a folder, or out of one. */
	moveById(id: string, folderId: string | null): void {
		const item = this.workspace.conversations.find(id);
		if (item !== undefined) this.move(item, folderId);
	}
}
