/** Everything a signed-in person works with: the open conversation, the lists, and the services around them. */
import type { Api } from '$/api/client';
import { toFailure } from '$/api/http';
import { Socket } from '$/api/socket';
import type { Me } from '$/api/wire';
import { ProofOfWork } from '$/proof_of_work/proofOfWork.svelte';
import { Allowance } from '$/state/allowance.svelte';
import { Conversation } from '$/state/conversation.svelte';
import { Conversations, type Change } from '$/state/conversations.svelte';
import { Delivery, type DeliveryResult } from '$/state/delivery.svelte';
import { Drafts } from '$/state/drafts';
import { Engine } from '$/state/engine.svelte';
import { Features } from '$/state/features.svelte';
import { getDeviceId } from '$/state/ids';
import { LiveUpdates } from '$/state/liveUpdates.svelte';
import { MemoryCache } from '$/state/memoryCache.svelte';
import { Notices } from '$/state/notices.svelte';
import { Outbox, type OutgoingMessage } from '$/state/outbox';
import type { Preferences } from '$/state/preferences.svelte';
import { Prewarm } from '$/state/prewarm.svelte';
import type { SendOptions } from '$/state/sendBody';
import { Sources } from '$/state/sources.svelte';
import { Telemetry } from '$/state/telemetry';
import type { Turn } from '$/turn/turn.svelte';
import { describeFailure } from '$/words/failure';

export class Workspace {
	readonly conversations: Conversations;
	readonly engine: Engine;
	readonly delivery: Delivery;
	readonly liveUpdates: LiveUpdates;
	readonly notices = new Notices();
	readonly prewarm: Prewarm;
	readonly proofOfWork: ProofOfWork;
	readonly allowance: Allowance;
	readonly telemetry: Telemetry;
	readonly memoryCache: MemoryCache;
	readonly features: Features;
	readonly sources: Sources;
	open: Conversation;

	#drafts: Drafts;
	#closed = new AbortController();
	#socket: Socket;
	#stopPolling: () => void = () => undefined;

	/** `go` is the router's: it opens an address. */
	constructor(
		readonly api: Api,
		readonly preferences: Preferences,
		readonly user: Me['user'],
		readonly go: (path: string) => void
	) {
		this.conversations = new Conversations(api);
		this.engine = new Engine(api, localStorage);
		this.#drafts = new Drafts(localStorage, user.id);
		this.delivery = new Delivery(api, new Outbox(localStorage, user.id));
		this.open = $state.raw(this.#create(null));
		this.prewarm = new Prewarm(api);
		this.proofOfWork = new ProofOfWork(api);
		this.allowance = new Allowance(api);
		this.telemetry = new Telemetry(api, () => preferences.isReported);
		this.memoryCache = new MemoryCache(api);
		this.features = new Features(api, localStorage, user.id);
		this.sources = new Sources(api);
		this.#configureApi();
		this.#socket = new Socket(api.requestSocketTicket);
		api.socket = this.#socket;
		this.liveUpdates = new LiveUpdates(this.#socket, this.conversations, () => this.open);
		this.delivery.canSend = ({ conversationId }) =>
			conversationId !== this.open.id || this.open.isIdle;
		this.delivery.isStored = (outgoing) => this.open.hasStored(outgoing);
		this.delivery.onsend = (outgoing, turn) => {
			if (outgoing.conversationId === this.open.id) void this.open.watch(outgoing, turn);
		};
		this.delivery.onsettled = (outgoing, result) => this.#settle(outgoing, result);
	}

	/** Fetches the lists, opens the socket and resumes the outbox. */
	start(): void {
		void this.conversations.load();
		this.#stopPolling = this.engine.poll();
		this.delivery.start();
		this.liveUpdates.start(this.#closed.signal);
		this.telemetry.watch(this.#closed.signal);
		void this.allowance.load();
		void this.features.load();
		void this.sources.load();
		void this.#loadProfile();
	}

	/** Call after each turn. */
	handleTurnEnd(turn: Turn | null): void {
		if (turn !== null) this.telemetry.reportTurn(turn);
		void this.allowance.refreshAfterTurn();
	}

	/** The options of the next message. */
	get sendOptions(): SendOptions {
		const features = this.canUseTools ? this.features.chosenIn(this.open) : [];
		return { ...this.repeatOptions, features };
	}

	/** Those of an answer that is asked for again or continued: it uses what was on for it. */
	get repeatOptions(): SendOptions {
		return { model: this.engine.chosen, sampling: this.preferences.sampling };
	}

	/** Whether the chosen model can. While none is known, the server decides. */
	get canUseTools(): boolean {
		return this.engine.activeModel?.can_call_tools ?? true;
	}

	/** Opens a conversation. Null opens a new one. */
	openConversation(id: string | null): void {
		const isNewAndUsed = id === null && this.open.path.length > 0;
		if (id === this.open.id && !isNewAndUsed) return;
		this.open.close();
		this.open = this.#create(id);
		const sending = id === null ? null : this.delivery.sendingTo(id);
		if (sending !== null) void this.open.watch(sending.outgoing, sending.turn);
		void this.open.load();
	}

	async rename(id: string, title: string): Promise<void> {
		await this.conversations.rename(id, title);
		if (id === this.open.id) this.open.retitle(title);
	}

	async archive(id = this.open.id): Promise<void> {
		if (id !== null) await this.#hide(id, this.#t.archived, { is_archived: true });
	}

	/** Deletes a conversation. The notice offers to undo it. */
	async remove(id = this.open.id): Promise<void> {
		if (id !== null) await this.#hide(id, this.#t.removed, { is_visible: false });
	}

	async togglePin(id = this.open.id): Promise<void> {
		if (id === null) return;
		const is_pinned = !(this.conversations.find(id)?.is_pinned ?? this.open.isPinned);
		const isDone = await this.attempt(() => this.conversations.change(id, { is_pinned }));
		if (isDone && id === this.open.id) this.open.isPinned = is_pinned;
	}

	async unarchive(id = this.open.id): Promise<void> {
		if (id === null) return;
		const notice = this.#t.unarchived(this.#getTitle(id));
		await this.change(id, { is_archived: false }, notice, { is_archived: true });
	}

	/** The lists are newer than the open conversation, but may not contain it. */
	get isPinned(): boolean {
		return this.conversations.find(this.open.id ?? '')?.is_pinned ?? this.open.isPinned;
	}
	get isArchived(): boolean {
		return this.conversations.find(this.open.id ?? '')?.is_archived ?? this.open.isArchived;
	}

	/** Changes a conversation, and shows a notice that offers to undo it with `inverse`. */
	async change(id: string, change: Change, notice: string, inverse: Change): Promise<void> {
		const isDone = await this.attempt(() => this.#apply(id, change));
		const undo = () => void this.attempt(() => this.#apply(id, inverse));
		if (isDone) this.notices.show(notice, { label: this.#t.undo, run: undo });
	}

	/** Whether a turn runs in the conversation, in any tab or device. */
	isAnswering(id: string): boolean {
		return id === this.open.id ? this.open.isAnswering : this.liveUpdates.answering.has(id);
	}

	startTemporary(): void {
		this.openConversation(null);
		this.open.isTemporary = true;
		this.go('/');
	}

	close(): void {
		this.#closed.abort();
		// Another workspace may have replaced the socket already.
		if (this.api.socket === this.#socket) this.api.socket = null;
		this.prewarm.cancel();
		this.proofOfWork.close();
		this.allowance.close();
		this.#stopPolling();
		this.open.close();
		this.delivery.close();
	}

	#configureApi(): void {
		const { api } = this;
		api.deviceId = getDeviceId(localStorage);
		api.sendHeaders = (body) => ({ ...this.proofOfWork.headers, ...this.prewarm.headersFor(body) });
		api.prove = (signal) => this.proofOfWork.earnToken(signal);
		api.onsent = (body, headers) => {
			this.prewarm.forget(body);
			this.allowance.readHeaders(headers);
		};
	}

	/** Tells the API whether memory suggestions may follow an answer. */
	async #loadProfile(): Promise<void> {
		try {
			await this.api.getProfile();
		} catch (error) {
			toFailure(error);
		}
	}

	#create(id: string | null): Conversation {
		const conversation = new Conversation(this.api, id, this.#drafts, this.delivery);
		conversation.onmismatch = () => this.telemetry.reportRecovered('text_differs');
		return conversation;
	}

	get #t() {
		return this.preferences.words.workspace;
	}

	async #hide(
		id: string,
		notice: (title: string) => string,
		change: { is_archived: true } | { is_visible: false }
	): Promise<void> {
		const wasOpen = id === this.open.id;
		const title = this.#getTitle(id);
		const isDone = await this.attempt(() => this.conversations.change(id, change));
		if (!isDone) return;
		if (id === this.open.id) {
			this.go('/');
			this.openConversation(null);
		}
		const draft = this.#drafts.get(id);
		if ('is_visible' in change) this.#drafts.set(id, '');
		const inverse = 'is_archived' in change ? { is_archived: false } : { is_visible: true };
		const undo = async () => {
			const isUndone = await this.attempt(() => this.conversations.change(id, inverse));
			if (!isUndone) return;
			this.#drafts.set(id, draft);
			if (wasOpen && this.open.id === null && this.open.path.length === 0) this.go(`/c/${id}`);
		};
		this.notices.show(notice(title), { label: this.#t.undo, run: () => void undo() });
	}

	/** Returns whether the open conversation shows the turn. */
	#settle(outgoing: OutgoingMessage, result: DeliveryResult): boolean {
		const { conversationId } = outgoing;
		if (this.open.settle(outgoing, result)) return true;
		if (result.kind === 'refused' && conversationId !== this.open.id) {
			// Text of a temporary chat is never stored.
			const { text, attachments, isTemporary } = outgoing;
			if (isTemporary !== true) this.#drafts.restore(conversationId, text, attachments);
			const { failure } = result;
			if (failure !== null) this.notices.warn(describeFailure(failure, this.preferences.words));
		}
		if (result.kind === 'accepted') void this.conversations.load();
		return false;
	}

	async #apply(id: string, change: Change): Promise<void> {
		await this.conversations.change(id, change);
		if (id === this.open.id) this.open.isArchived = change.is_archived ?? this.open.isArchived;
	}

	#getTitle(id: string): string {
		const title = this.conversations.find(id)?.title ?? this.open.title;
		return title === '' ? this.preferences.words.sidebar.untitled : title;
	}

	/** Shows a failure as a notice. Returns whether it succeeded. */
	async attempt(action: () => Promise<unknown>): Promise<boolean> {
		try {
			await action();
			return true;
		} catch (error) {
			this.notices.warn(describeFailure(toFailure(error), this.preferences.words));
			return false;
		}
	}
}
