/**
 * Live updates of the person's turns in other tabs and devices. Keeps the socket open while the
 * tab is visible, and applies its news to the lists and the open conversation. Without a socket
 * the page works, but does not update by itself.
 */
import type { News } from '$/api/wire';
import type { Socket } from '$/api/socket';
import type { Conversation } from '$/state/conversation.svelte';
import type { Conversations } from '$/state/conversations.svelte';

/** A first connection within this time has missed nothing that the page did not just fetch. */
const FRESH_MS = 5_000;
/** Lets the page paint first. */
const CONNECT_DELAY_MS = 500;
/** A tab that is hidden for this long closes its socket. */
const HIDDEN_MS = 300_000;
/** A conversation that was started in this tab is in the list before then. */
const UNKNOWN_DELAY_MS = 500;

type NewsSocket = Pick<Socket, 'open' | 'close' | 'reconnect' | 'onopen' | 'onclose' | 'onnews'>;

export class LiveUpdates {
	/** The conversations with a running turn, in any tab or device. */
	answering = $state.raw<ReadonlySet<string>>(new Set());

	#socket: NewsSocket;
	#conversations: Conversations;
	#open: () => Conversation;
	/** The conversation of each running turn. */
	#turns = new Map<string, string>();
	#hasConnected = false;
	#startedAt = 0;
	#hiddenTimer: ReturnType<typeof setTimeout> | undefined;
	#reloadTimer: ReturnType<typeof setTimeout> | undefined;

	constructor(socket: NewsSocket, conversations: Conversations, open: () => Conversation) {
		this.#socket = socket;
		this.#conversations = conversations;
		this.#open = open;
		socket.onopen = () => this.#catchUp();
		socket.onclose = () => this.#clear();
		socket.onnews = (news) => this.#apply(news);
	}

	/** Listens until the signal aborts. */
	start(signal: AbortSignal): void {
		this.#startedAt = Date.now();
		const connectTimer = setTimeout(() => this.#followVisibility(), CONNECT_DELAY_MS);
		document.addEventListener('visibilitychange', () => this.#followVisibility(), { signal });
		addEventListener('online', () => this.#socket.reconnect(), { signal });
		signal.addEventListener('abort', () => {
			for (const timer of [connectTimer, this.#hiddenTimer, this.#reloadTimer]) clearTimeout(timer);
			this.#socket.close();
		});
	}

	#followVisibility(): void {
		clearTimeout(this.#hiddenTimer);
		if (document.visibilityState === 'visible') this.#socket.open();
		else this.#hiddenTimer = setTimeout(() => this.#socket.close(), HIDDEN_MS);
	}

	/** Refetches what may have changed while there was no connection. */
	#catchUp(): void {
		const isFresh = !this.#hasConnected && Date.now() - this.#startedAt < FRESH_MS;
		this.#hasConnected = true;
		if (isFresh) return;
		void this.#conversations.load();
		void this.#open().catchUp();
	}

	#apply(news: News): void {
		const { conversation_id: id } = news;
		const open = this.#open().id === id ? this.#open() : null;
		if (news.type === 'title_changed') {
			this.#updateLists(id, news.title, false);
			open?.retitle(news.title);
			return;
		}
		const hasStarted = news.type === 'turn_began';
		if (hasStarted) this.#turns.set(news.turn_exchange_id, id);
		else this.#turns.delete(news.turn_exchange_id);
		this.answering = new Set(this.#turns.values());
		if (hasStarted) this.#updateLists(id, '', true);
		void open?.handleTurnNews(news.turn_exchange_id);
	}

	/** Reloads the lists if the conversation is in none of them. */
	#updateLists(id: string, title: string, isActive: boolean): void {
		const isKnown = () => this.#conversations.find(id) !== undefined;
		if (isKnown()) return this.#conversations.update(id, title, isActive);
		clearTimeout(this.#reloadTimer);
		this.#reloadTimer = setTimeout(
			() => isKnown() || void this.#conversations.load(),
			UNKNOWN_DELAY_MS
		);
	}

	#clear(): void {
		this.#turns.clear();
		this.answering = new Set();
	}
}
