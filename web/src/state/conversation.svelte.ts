/**
 * The open conversation, and everything a person can do to it. It combines the server's copy, the
 * messages being sent (`Sending`) and the turn being read (`LiveTurn`).
 */
import { untrack } from 'svelte';
import { shortBackoff, type Backoff } from '$/api/backoff';
import type { Api } from '$/api/client';
import { ApiError, toFailure } from '$/api/http';
import type { FormAction } from '$/api/events.gen';
import type { CallVerdict, Feedback, FormContent, Message, ShareLink } from '$/api/wire';
import type { Redaction } from '$/safety/redactions';
import { findQuestionOfTool } from '$/state/answerParts';
import { Attached } from '$/state/attached.svelte';
import type { Delivery, DeliveryResult } from '$/state/delivery.svelte';
import { Draft } from '$/state/draft.svelte';
import type { Drafts } from '$/state/drafts';
import { createId } from '$/state/ids';
import { LiveTurn } from '$/state/liveTurn.svelte';
import {
	addMessage,
	joinMessages,
	getLeafId,
	findPath,
	findQuestion,
	setFeedback,
	type PathEntry
} from '$/state/messageTree';
import type { OutgoingMessage } from '$/state/outbox';
import { buildAnswerBody, toMessage, type SendOptions } from '$/state/sendBody';
import { Sending, type Editing, type SecretQuestion } from '$/state/sending.svelte';
import { ServerCopy } from '$/state/serverCopy.svelte';
import { Turn } from '$/turn/turn.svelte';

const END_WAIT_MS = 3_000;
const NO_REDACTIONS: Redaction[] = [];

export class Conversation {
	state = $derived.by(() => this.#serverCopy.state);
	problem = $derived.by(() => this.#liveTurn.problem ?? this.#serverCopy.problem);
	isWaiting = $derived.by(() => this.isAnswering && this.turn?.answer == null);
	/** The call of a tool that the person has to allow or to answer, if the answer waits for that. */
	question = $derived.by(() => {
		const place = this.path.at(-1);
		if (place === undefined || this.isWaiting) return null;
		return findQuestionOfTool(this.messagesAt(place), this.isAnswering);
	});
	#isSecretAttached = $derived.by(() =>
		this.attached.items.some(({ text }) => this.#sending.findSecrets(text).length > 0)
	);
	/** Whether the draft, or what is attached, has a secret that the person has not chosen to send. */
	hasSecret = $derived.by(
		() => this.#isSecretAttached || this.#sending.findSecrets(this.draft).length > 0
	);
	canSend = $derived.by(() => this.state === 'open' && !this.isAnswering && this.queued === null);

	#tree = $derived.by(() => {
		// Rebuilt when the turn adds a message, not with its text, which `message` reads.
		void this.turn?.messageIds;
		const { outgoing } = this.#sending;
		const sent = outgoing === null ? [] : [toMessage(outgoing)];
		const turnMessages = untrack(() => this.turn?.messages ?? []);
		return [...sent, ...turnMessages].reduce(addMessage, this.#serverCopy.tree);
	});
	/** What the placeholders in the messages stand for. */
	redactions = $derived.by(() => {
		const messages = [...this.#tree.values()].flatMap(({ message }) => message ?? []);
		const all = messages.flatMap(({ metadata }) => metadata.redactions ?? []);
		return all.length === 0 ? NO_REDACTIONS : all;
	});
	path = $derived.by(() =>
		findPath(this.#tree, this.#sending.outgoing?.id ?? this.#serverCopy.current, this.isWaiting)
	);
	/** Input and output tokens of the last answer. Null if they were not counted. */
	numContextTokens = $derived.by(() => {
		const ids = this.path.slice(-2).flatMap((place) => place.ids);
		const last = ids.findLast((id) => this.#usage(id) !== null);
		const usage = last === undefined ? null : this.#usage(last);
		return usage === null ? null : usage.num_input_tokens + usage.num_output_tokens;
	});

	#api: Api;
	#serverCopy: ServerCopy;
	#draft: Draft;
	readonly attached: Attached;
	#liveTurn: LiveTurn;
	#sending: Sending;
	#closed = new AbortController();

	constructor(
		api: Api,
		id: string | null,
		drafts: Drafts,
		delivery: Delivery,
		backoff: Backoff = shortBackoff
	) {
		this.#api = api;
		this.#serverCopy = new ServerCopy(api, id, backoff, this.#closed.signal);
		const isSending = () => this.#sending.outgoing !== null;
		this.#liveTurn = new LiveTurn(api, this.#serverCopy, isSending, this.#closed.signal);
		const place = [drafts, () => this.id, () => !this.isTemporary] as const;
		this.#draft = new Draft(...place);
		this.attached = new Attached(...place);
		this.#sending = new Sending(
			api,
			this,
			this.#serverCopy,
			this.#liveTurn,
			delivery,
			this.#draft,
			this.attached
		);
		addEventListener('pagehide', () => this.#draft.flush(), { signal: this.#closed.signal });
	}

	get id(): string | null {
		return this.#liveTurn.id;
	}
	get title(): string {
		return this.#liveTurn.title;
	}
	get turn(): Turn | null {
		return this.#liveTurn.turn;
	}
	get isAnswering(): boolean {
		return this.#liveTurn.isAnswering;
	}
	get isIdle(): boolean {
		return this.#liveTurn.isIdle;
	}
	get queued(): OutgoingMessage | null {
		return this.#sending.queued;
	}

	get secretQuestion(): SecretQuestion | null {
		return this.#sending.secretQuestion;
	}
	get editing(): Editing | null {
		return this.#sending.editing;
	}
	set editing(editing: Editing | null) {
		this.#sending.editing = editing;
	}

	get draft(): string {
		return this.#draft.text;
	}
	set draft(text: string) {
		this.#draft.text = text;
	}

	get isPinned(): boolean {
		return this.#serverCopy.isPinned;
	}
	set isPinned(isPinned: boolean) {
		this.#serverCopy.isPinned = isPinned;
	}
	get isArchived(): boolean {
		return this.#serverCopy.isArchived;
	}
	set isArchived(isArchived: boolean) {
		this.#serverCopy.isArchived = isArchived;
	}

	get isTemporary(): boolean {
		return this.#serverCopy.isTemporary;
	}
	/** Has no effect after the first message. */
	set isTemporary(isTemporary: boolean) {
		if (this.id !== null || this.path.length > 0) return;
		this.#serverCopy.isTemporary = isTemporary;
		this.#draft.flush();
	}

	message(id: string): Message | null {
		return this.turn?.messages.find((m) => m.id === id) ?? this.#tree.get(id)?.message ?? null;
	}

	messagesAt({ ids }: PathEntry): Message[] {
		return ids.flatMap((id) => this.message(id) ?? []);
	}

	/** The messages of a path entry, joined into one. */
	messageAt(place: PathEntry): Message | null {
		return joinMessages(this.messagesAt(place));
	}

	/** The turn of this answer, if it is read here. */
	turnAt({ ids }: PathEntry): Turn | null {
		const id = this.turn?.lastMessage?.id;
		return id !== undefined && ids.includes(id) ? this.turn : null;
	}

	/** Called when the text that was read differs from the text that is stored. */
	set onmismatch(callback: () => void) {
		this.#liveTurn.onmismatch = callback;
	}

	load = (): Promise<void> => this.#liveTurn.load();
	handleTurnNews = (turnId: string): Promise<void> => this.#liveTurn.handleTurnNews(turnId);
	catchUp = (): Promise<void> => this.#liveTurn.catchUp();

	send = (options: SendOptions): Promise<void> => this.#sending.send(options);
	edit = (options: SendOptions): Promise<void> => this.#sending.edit(options);
	unqueue = (): void => this.#sending.unqueue();
	watch = (outgoing: OutgoingMessage, turn: Turn): Promise<void> =>
		this.#sending.watch(outgoing, turn);
	settle = (outgoing: OutgoingMessage, result: DeliveryResult): boolean =>
		this.#sending.settle(outgoing, result);

	/** Whether the server has stored this message, although its response was lost. */
	hasStored({ id }: OutgoingMessage): boolean {
		return this.#sending.outgoing?.id !== id && this.#tree.has(id);
	}

	getParentId(id: string): string | null {
		return this.#tree.get(id)?.parent ?? null;
	}

	/** Requests another answer to the message before this one. */
	async answerAgain(answerId: string, options: SendOptions): Promise<void> {
		const question = findQuestion(this.#tree, answerId);
		if (question !== null) await this.answer(question, options);
	}

	async answer(questionId: string, options: SendOptions): Promise<void> {
		await this.#requestAnswer('variant', questionId, options);
	}

	/** Continues an answer that was cut short. */
	async continueAnswer(answerId: string, options: SendOptions): Promise<void> {
		await this.#requestAnswer('continue', answerId, options);
	}

	/**
	 * Allows or refuses a call that waits. If its turn has ended, or another tab has seen to that,
	 * the answer is continued with the decision.
	 */
	async decide(verdict: CallVerdict, options: SendOptions): Promise<void> {
		if (this.isAnswering && (await this.#tell(() => this.#api.approveCall(verdict)))) return;
		if (this.isAnswering) await this.#waitForEnd();
		if (this.isAnswering || this.question?.call.call_id !== verdict.call_id) return;
		const leaf = getLeafId(this.path);
		if (leaf !== null) await this.#requestAnswer('continue', leaf, options, [verdict]);
	}

	/** Answers the form of a tool that runs. Returns whether the tool got it. */
	answerForm(formId: string, action: FormAction, content: FormContent = {}): Promise<boolean> {
		return this.#tell(() => this.#api.answerForm(formId, action, content));
	}

	stop(): void {
		this.turn?.stop();
	}

	/** Shows another branch, also after a reload. */
	async showBranch(id: string): Promise<void> {
		this.#serverCopy.current = id;
		const leaf = getLeafId(this.path);
		if (this.id === null || leaf === null || this.isAnswering) return;
		await this.#attempt(this.#api.changeConversation(this.id, { current_node: leaf }));
	}

	/** Shows the branch of a message. Returns false if there is no such message. */
	reveal(id: string): boolean {
		if (!this.#tree.has(id)) return false;
		if (!this.path.some(({ ids }) => ids.includes(id))) this.#serverCopy.current = id;
		return true;
	}

	/** Null removes the feedback. */
	async rate(messageId: string, feedback: Feedback | null): Promise<void> {
		const before = this.message(messageId)?.metadata.feedback ?? null;
		if (this.id === null) return;
		this.#setFeedback(messageId, feedback);
		const isDone = await this.#attempt(
			feedback === null
				? this.#api.unrate(this.id, messageId)
				: this.#api.rate(this.id, messageId, feedback)
		);
		if (!isDone) this.#setFeedback(messageId, before);
	}

	/** Creates a link to everything up to a message. Throws if the server refuses. */
	async share(leafId: string): Promise<ShareLink> {
		return this.#api.share(this.id ?? '', leafId);
	}

	/** Shows a title that the server has stored already. */
	retitle(title: string): void {
		this.#serverCopy.title = title;
		if (this.turn !== null) this.turn.title = null;
	}

	/** A running turn continues on the server, and a message on its way is delivered. */
	close(): void {
		this.#draft.flush();
		this.#closed.abort();
		if (this.#sending.outgoing === null) this.turn?.detach();
	}

	/** Returns false if the server waits for it no longer. Any other failure is shown. */
	async #tell(send: () => Promise<void>): Promise<boolean> {
		try {
			await send();
		} catch (error) {
			if (error instanceof ApiError && error.status === 409) return false;
			this.#liveTurn.problem = toFailure(error);
		}
		return true;
	}

	/** After a restart of the server, the stream says a moment later that its turn has ended. */
	async #waitForEnd(): Promise<void> {
		const late = new Promise((resolve) => setTimeout(resolve, END_WAIT_MS));
		await Promise.race([this.turn?.run(), late]);
	}

	async #requestAnswer(
		action: 'variant' | 'continue',
		parent: string,
		options: SendOptions,
		verdicts: CallVerdict[] = []
	): Promise<void> {
		if (this.state !== 'open' || this.isAnswering) return;
		const before = this.#serverCopy.current;
		this.#serverCopy.current = parent;
		const body = buildAnswerBody(action, parent, options, this.id, verdicts);
		const turn = new Turn(this.#api, { body, key: createId() });
		if (await this.#liveTurn.run(turn)) return;
		this.#serverCopy.current = before;
		this.#liveTurn.problem = turn.failure;
	}

	#setFeedback(messageId: string, feedback: Feedback | null): void {
		const message = this.message(messageId);
		if (message === null) return;
		const rated = setFeedback(message, feedback);
		this.#serverCopy.add([rated]);
		const turn = this.turn;
		if (turn !== null) {
			turn.messages = turn.messages.map((one) => (one.id === messageId ? rated : one));
		}
	}

	async #attempt(change: Promise<void>): Promise<boolean> {
		try {
			await change;
			return true;
		} catch (error) {
			this.#liveTurn.problem = toFailure(error);
			return false;
		}
	}

	#usage(id: string) {
		return this.message(id)?.metadata.usage ?? null;
	}
}
