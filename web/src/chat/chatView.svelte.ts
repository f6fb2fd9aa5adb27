/** View state and actions shared by the rows of the message list. It outlives rows that scroll out of view. */
import { MediaQuery } from 'svelte/reactivity';
import { restoreValues } from '$/safety/redactions';
import type { Message } from '$/api/wire';
import type { Voice } from '$/chat/voice.svelte';
import type { Conversation } from '$/state/conversation.svelte';
import type { SendOptions } from '$/state/sendBody';
import { CodeRuns } from '$/tools/codeRuns.svelte';
import { ToolView } from '$/tools/toolView.svelte';
import type { Workspace } from '$/state/workspace.svelte';

export class ChatView {
	/** The message a link led to, highlighted for a moment. */
	markedId = $state<string | null>(null);
	/** A narrow screen has no room for every button. */
	readonly narrow = new MediaQuery('max-width: 30rem');
	readonly tools: ToolView;
	readonly codeRuns: CodeRuns;
	/** Called when the pressed button disappears, and the focus with it. */
	onfocuslost: () => void = () => undefined;

	constructor(
		readonly workspace: Workspace,
		readonly conversation: Conversation,
		readonly voice: Voice,
		readonly oninspect: (turnId: string) => void
	) {
		this.tools = new ToolView(workspace, conversation);
		this.tools.onfocuslost = () => this.onfocuslost();
		this.codeRuns = new CodeRuns(workspace.api, () => conversation.id);
	}

	sendEdit(): void {
		void this.conversation.edit(this.workspace.sendOptions);
		this.onfocuslost();
	}

	cancelEdit(): void {
		this.conversation.editing = null;
		this.onfocuslost();
	}

	/** Sends a message again as it is, as a new branch. */
	sendAgain(question: Message | null): void {
		if (question === null) return;
		const { id, content, metadata } = question;
		const text = restoreValues(content.parts[0] ?? '', metadata.redactions ?? []);
		this.conversation.editing = { id, text, problem: null };
		this.sendEdit();
	}

	/** `overrides` replace the usual options. */
	answerAgain(answerId: string, overrides: Partial<SendOptions> = {}): void {
		void this.conversation.answerAgain(answerId, { ...this.workspace.repeatOptions, ...overrides });
		this.onfocuslost();
	}

	answer(questionId: string): void {
		void this.conversation.answer(questionId, this.workspace.sendOptions);
		this.onfocuslost();
	}

	continueAnswer(answerId: string): void {
		void this.conversation.continueAnswer(answerId, this.workspace.repeatOptions);
		this.onfocuslost();
	}
}
