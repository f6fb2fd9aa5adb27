/** What the calls of tools on the screen share: which are open, and what a person can do with them. */
import { SvelteSet } from 'svelte/reactivity';
import type { FormAction } from '$/api/events.gen';
import type { CallVerdict, FormContent } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import type { Workspace } from '$/state/workspace.svelte';

export class ToolView {
	/** The ids of the calls that are unfolded. Rows that scroll out of view keep theirs. */
	readonly open = new SvelteSet<string>();
	/** Called when the pressed button disappears, and the focus with it. */
	onfocuslost: () => void = () => undefined;

	constructor(
		readonly workspace: Workspace,
		readonly conversation: Conversation
	) {}

	toggle(callId: string): void {
		if (!this.open.delete(callId)) this.open.add(callId);
	}

	async decide(verdict: CallVerdict): Promise<void> {
		await this.conversation.decide(verdict, this.workspace.repeatOptions);
		this.onfocuslost();
	}

	async answerForm(formId: string, action: FormAction, content: FormContent): Promise<boolean> {
		const isTaken = await this.conversation.answerForm(formId, action, content);
		if (isTaken) this.onfocuslost();
		return isTaken;
	}
}
