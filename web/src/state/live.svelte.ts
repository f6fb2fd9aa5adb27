/**
 * The news: what becomes of a person's turns in other tabs and on other devices. Keeps the page's
 * socket open while somebody looks, and passes on what it says to the lists and to the
 * conversation that is open. Without a socket everything works, only not by itself.
 */
import type { News } from '$/api/frames';
import type { Socket } from '$/api/socket';
import type { Conversation } from '$/state/conversation.svelte';
import type { Conversations } from '$/state/conversations.svelte';

/** What was fetched when the page began is no older. */
const FRESH_MS = 5_000;
/** The page is painted first. */
const SETTLED_MS = 500;
/** A page nobody has looked at for so long does not need to know. */
const HIDDEN_MS = 300_000;
/** A conversation that begins here is in the list before then. */
const UNKNOWN_MS = 500;

type Source = Pick<Socket, 'open' | 'close' | 'renew' | 'onopen' | 'onclose' | 'onnews'>;

export class Live {
	/** The conversations that are being answered, wherever that was asked for. */
	answering = $state.raw<ReadonlySet<string>>(new Set());

	#socket: Source;
	#conversations: Conversations;
	#open: () => Conversation;
	/** The conversation of each turn under way. */
	#turns = new Map<string, string>();
	#hasHeard = false;
	#begunAt = 0;
	#hiding: ReturnType<typeof setTimeout> | undefined;
	#asking: ReturnType<typeof setTimeout> | undefined;

	constructor(socket: Source, conversations: Conversations, open: () => Conversation) {
		this.#socket = socket;
		this.#conversations = conversations;
		this.#open = open;
		socket.onopen = () => this.#catchUp();
		socket.onclose = () => this.#forget();
		socket.onnews = (news) => this.#take(news);
	}

	/** Listens while the page is looked at, until `left`. */
	begin(left: AbortSignal): void {
		this.#begunAt = Date.now();
		const settled = setTimeout(() => this.#look(), SETTLED_MS);
		document.addEventListener('visibilitychange', () => this.#look(), { signal: left });
		addEventListener('online', () => this.#socket.renew(), { signal: left });
		left.addEventListener('abort', () => {
			for (const timer of [settled, this.#hiding, this.#asking]) clearTimeout(timer);
			this.#socket.close();
		});
	}

	#look(): void {
		clearTimeout(this.#hiding);
		if (document.visibilityState === 'visible') this.#socket.open();
		else this.#hiding = setTimeout(() => this.#socket.close(), HIDDEN_MS);
	}

	/** What happened while nobody told us. At first the page may know, because it has just asked. */
	#catchUp(): void {
		const isFresh = !this.#hasHeard && Date.now() - this.#begunAt < FRESH_MS;
		this.#hasHeard = true;
		if (isFresh) return;
		void this.#conversations.load();
		void this.#open().catchUp();
	}

	#take(news: News): void {
		const { conversation_id: id } = news;
		const open = this.#open().id === id ? this.#open() : null;
		if (news.type === 'title_changed') {
			this.#list(id, news.title, false);
			open?.retitle(news.title);
			return;
		}
		const isBegun = news.type === 'turn_began';
		if (isBegun) this.#turns.set(news.turn_exchange_id, id);
		else this.#turns.delete(news.turn_exchange_id);
		this.answering = new Set(this.#turns.values());
		if (isBegun) this.#list(id, '', true);
		void open?.hearOf(news.turn_exchange_id);
	}

	/** A conversation that is in no list yet is asked for. */
	#list(id: string, title: string, isSaid: boolean): void {
		const isKnown = () => this.#conversations.find(id) !== undefined;
		if (isKnown()) return this.#conversations.note(id, title, isSaid);
		clearTimeout(this.#asking);
		this.#asking = setTimeout(() => isKnown() || void this.#conversations.load(), UNKNOWN_MS);
	}

	#forget(): void {
		this.#turns.clear();
		this.answering = new Set();
	}
}
