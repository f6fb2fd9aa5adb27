/** What lies before somebody who is signed in: their list, and the one conversation that is open. */
import { failureOf, type Api } from '$/api/client';
import { Socket } from '$/api/socket';
import type { Me } from '$/api/wire';
import { Gate } from '$/gate/gate.svelte';
import { Remembered } from '$/memory/remembered.svelte';
import { Allowance } from '$/state/allowance.svelte';
import { Beacon } from '$/state/beacon';
import { Conversation, type Ask } from '$/state/conversation.svelte';
import { Conversations, type Change } from '$/state/conversations.svelte';
import { deviceIn } from '$/state/device';
import { Delivery, type Fate } from '$/state/delivery.svelte';
import { Drafts } from '$/state/drafts';
import { Engine } from '$/state/engine.svelte';
import type { Letter } from '$/state/letter';
import { Live } from '$/state/live.svelte';
import { Notices } from '$/state/notices.svelte';
import { Outbox } from '$/state/outbox';
import type { Preferences } from '$/state/preferences.svelte';
import { Warming } from '$/state/warming.svelte';
import type { Turn } from '$/turn/turn.svelte';
import { sentenceOf } from '$/words/problem';

export class Desk {
	readonly conversations: Conversations;
	readonly engine: Engine;
	readonly delivery: Delivery;
	readonly live: Live;
	readonly notices = new Notices();
	readonly warming: Warming;
	readonly gate: Gate;
	readonly allowance: Allowance;
	readonly beacon: Beacon;
	readonly remembered: Remembered;
	open: Conversation;

	#drafts: Drafts;
	#left = new AbortController();
	#socket: Socket;
	#unwatch: () => void = () => undefined;

	/** `go` opens the conversation of an address: the router's, where there is one. */
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
		this.open = $state.raw(this.#opened(null));
		this.warming = new Warming(api);
		this.gate = new Gate(api);
		this.allowance = new Allowance(api);
		this.beacon = new Beacon(api, () => preferences.isReported);
		this.remembered = new Remembered(api);
		this.#accompany();
		this.#socket = new Socket(api.socketTicket);
		api.topics = this.#socket;
		this.live = new Live(this.#socket, this.conversations, () => this.open);
		this.delivery.isDue = ({ conversationId }) =>
			conversationId !== this.open.id || this.open.isAtRest;
		this.delivery.isSaid = (letter) => this.open.holds(letter);
		this.delivery.onposted = (letter, turn) => {
			if (letter.conversationId === this.open.id) void this.open.watch(letter, turn);
		};
		this.delivery.onsettled = (letter, fate) => this.#settle(letter, fate);
	}

	/** Fetches the lists, and goes on with what was on its way. */
	begin(): void {
		void this.conversations.load();
		this.#unwatch = this.engine.watch();
		this.delivery.begin();
		this.live.begin(this.#left.signal);
		this.beacon.watch(this.#left.signal);
		void this.allowance.load();
		void this.#learnProfile();
	}

	/** An answer is over: how it went is told, and what is left is asked. */
	afterTurn(turn: Turn | null): void {
		if (turn !== null) this.beacon.tellTurn(turn);
		void this.allowance.afterTurn();
	}

	/** What the next message asks for: which model, and how it chooses its words. */
	get ask(): Ask {
		return { model: this.engine.chosen, sampling: this.preferences.sampling };
	}

	/** Opens a conversation, or with null a new one. The one that is open stays as it is. */
	visit(id: string | null): void {
		const isNewAndUsed = id === null && this.open.path.length > 0;
		if (id === this.open.id && !isNewAndUsed) return;
		this.open.leave();
		this.open = this.#opened(id);
		const posted = id === null ? null : this.delivery.postedTo(id);
		if (posted !== null) void this.open.watch(posted.letter, posted.turn);
		void this.open.load();
	}

	async rename(id: string, title: string): Promise<void> {
		await this.conversations.rename(id, title);
		if (id === this.open.id) this.open.retitle(title);
	}

	/** Puts a conversation out of sight. It can be brought back from the archive. */
	async archive(id = this.open.id): Promise<void> {
		if (id !== null) await this.#putAway(id, this.#t.archived, { is_archived: true });
	}

	/** Deletes a conversation, with a moment to think better of it. */
	async remove(id = this.open.id): Promise<void> {
		if (id !== null) await this.#putAway(id, this.#t.removed, { is_visible: false });
	}

	async togglePin(id = this.open.id): Promise<void> {
		if (id === null) return;
		const is_pinned = !(this.conversations.find(id)?.is_pinned ?? this.open.isPinned);
		const isDone = await this.attempt(() => this.conversations.change(id, { is_pinned }));
		if (isDone && id === this.open.id) this.open.isPinned = is_pinned;
	}

	/** Brings a conversation back from the archive. */
	async unarchive(id = this.open.id): Promise<void> {
		if (id === null) return;
		const told = this.#t.unarchived(this.#titleOf(id));
		await this.change(id, { is_archived: false }, told, { is_archived: true });
	}

	/** How the open one lies: by its line in a list, or where none has come to it, as it was opened. */
	get isPinned(): boolean {
		return this.conversations.find(this.open.id ?? '')?.is_pinned ?? this.open.isPinned;
	}
	get isArchived(): boolean {
		return this.conversations.find(this.open.id ?? '')?.is_archived ?? this.open.isArchived;
	}

	/** Changes a conversation and says so, with the way back. What fails is said, and changes nothing. */
	async change(id: string, change: Change, told: string, back: Change): Promise<void> {
		const isDone = await this.attempt(() => this.#make(id, change));
		const undo = () => void this.attempt(() => this.#make(id, back));
		if (isDone) this.notices.tell(told, { label: this.#t.undo, run: undo });
	}

	/** Whether an answer is being written there, whoever asked for it. */
	isAnswering(id: string): boolean {
		return id === this.open.id ? this.open.isAnswering : this.live.answering.has(id);
	}

	/** Opens a new conversation that leaves nothing behind. */
	beginTemporary(): void {
		this.visit(null);
		this.open.isTemporary = true;
		this.go('/');
	}

	leave(): void {
		this.#left.abort();
		// Another desk may stand here by now.
		if (this.api.topics === this.#socket) this.api.topics = null;
		this.warming.cancel();
		this.gate.leave();
		this.allowance.leave();
		this.#unwatch();
		this.open.leave();
		this.delivery.leave();
	}

	/** Tells the server with every Send what it has to know beside the message. */
	#accompany(): void {
		const { api } = this;
		api.device = deviceIn(localStorage);
		api.companions = (body) => ({ ...this.gate.headers, ...this.warming.headersFor(body) });
		api.prove = (left) => this.gate.earn(left);
		api.onsent = (body, headers) => {
			this.warming.settle(body);
			this.allowance.note(headers);
		};
	}

	/** Whether suggestions may follow an answer. Where nobody tells, none are waited for. */
	async #learnProfile(): Promise<void> {
		try {
			await this.api.profile();
		} catch (error) {
			failureOf(error);
		}
	}

	#opened(id: string | null): Conversation {
		const opened = new Conversation(this.api, id, this.#drafts, this.delivery);
		opened.ondiffers = () => this.beacon.tellMended('text_differs');
		return opened;
	}

	get #t() {
		return this.preferences.words.desk;
	}

	async #putAway(
		id: string,
		told: (title: string) => string,
		change: { is_archived: true } | { is_visible: false }
	): Promise<void> {
		const wasOpen = id === this.open.id;
		const title = this.#titleOf(id);
		const isDone = await this.attempt(() => this.conversations.change(id, change));
		if (!isDone) return;
		if (id === this.open.id) {
			this.go('/');
			this.visit(null);
		}
		const draft = this.#drafts.of(id);
		if ('is_visible' in change) this.#drafts.keep(id, '');
		const back = 'is_archived' in change ? { is_archived: false } : { is_visible: true };
		const undo = async () => {
			const isBack = await this.attempt(() => this.conversations.change(id, back));
			if (!isBack) return;
			this.#drafts.keep(id, draft);
			if (wasOpen && this.open.id === null && this.open.path.length === 0) this.go(`/c/${id}`);
		};
		this.notices.tell(told(title), { label: this.#t.undo, run: () => void undo() });
	}

	/** What becomes of a letter is shown in its conversation, if that is open. */
	#settle(letter: Letter, fate: Fate): boolean {
		const { conversationId } = letter;
		if (this.open.settle(letter, fate)) return true;
		if (fate.kind === 'returned' && conversationId !== this.open.id) {
			// Storage is no place for what is said in a temporary chat.
			if (letter.isTemporary !== true) this.#drafts.giveBack(conversationId, letter.text);
			const why = fate.failure;
			if (why !== null) this.notices.warn(sentenceOf(why, this.preferences.words));
		}
		if (fate.kind === 'taken') void this.conversations.load();
		return false;
	}

	async #make(id: string, change: Change): Promise<void> {
		await this.conversations.change(id, change);
		if (id === this.open.id) this.open.isArchived = change.is_archived ?? this.open.isArchived;
	}

	#titleOf(id: string): string {
		const title = this.conversations.find(id)?.title ?? this.open.title;
		return title === '' ? this.preferences.words.sidebar.untitled : title;
	}

	/** What cannot be done is said, and changes nothing. */
	async attempt(what: () => Promise<unknown>): Promise<boolean> {
		try {
			await what();
			return true;
		} catch (error) {
			this.notices.warn(sentenceOf(failureOf(error), this.preferences.words));
			return false;
		}
	}
}
