// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import type { News } from '$/api/wire';
import type { Conversation } from '$/state/conversation.svelte';
import type { Conversations } from '$/state/conversations.svelte';
import { LiveUpdates } from '$/state/liveUpdates.svelte';

afterEach(() => vi.useRealTimers());

/** Live updates of a page that shows c1, and lists c1 and c2. */
function createLiveUpdates() {
	const callbacks = { onopen: vi.fn(), onclose: vi.fn(), onnews: vi.fn<(news: News) => void>() };
	const socket = { ...callbacks, open: vi.fn(), close: vi.fn(), reconnect: vi.fn() };
	const open = { id: 'c1', handleTurnNews: vi.fn(), catchUp: vi.fn(), retitle: vi.fn() };
	const find = (id: string) => (id === 'c1' || id === 'c2' ? {} : undefined);
	const lists = { find, update: vi.fn(), load: vi.fn() };
	const live = new LiveUpdates(
		socket,
		lists as unknown as Conversations,
		() => open as unknown as Conversation
	);
	return { live, socket, open, lists };
}

const turnNews = (type: 'turn_began' | 'turn_ended', conversation_id: string): News => ({
	type,
	conversation_id,
	turn_exchange_id: `turn of ${conversation_id}`,
	topic_id: `topic of ${conversation_id}`
});

test('a conversation with a turn elsewhere moves to the top, and is marked until the turn ends', () => {
	const { live, socket, lists, open } = createLiveUpdates();
	socket.onnews(turnNews('turn_began', 'c2'));
	expect([...live.answering]).toEqual(['c2']);
	expect(lists.update).toHaveBeenCalledWith('c2', '', true);
	socket.onnews(turnNews('turn_ended', 'c2'));

	expect([...live.answering]).toEqual([]);
	expect(open.handleTurnNews).not.toHaveBeenCalled();
});

test('the open conversation gets news of its turns', () => {
	const { socket, open } = createLiveUpdates();
	socket.onnews(turnNews('turn_began', 'c1'));

	expect(open.handleTurnNews).toHaveBeenCalledWith('turn of c1');
});

test('a title changes in the list and in the conversation', () => {
	const { socket, open, lists } = createLiveUpdates();
	socket.onnews({ type: 'title_changed', conversation_id: 'c1', title: 'Greetings' });

	expect(lists.update).toHaveBeenCalledWith('c1', 'Greetings', false);
	expect(open.retitle).toHaveBeenCalledWith('Greetings');
});

test('a conversation that is in no list reloads the lists once', () => {
	vi.useFakeTimers();
	const { socket, lists } = createLiveUpdates();
	socket.onnews(turnNews('turn_began', 'c3'));
	socket.onnews({ type: 'title_changed', conversation_id: 'c3', title: 'New' });
	vi.runAllTimers();

	expect(lists.load).toHaveBeenCalledTimes(1);
	expect(lists.update).not.toHaveBeenCalled();
});

test('missed changes are fetched when the socket reopens, not when it first opens', () => {
	const { live, socket, lists, open } = createLiveUpdates();
	live.start(new AbortController().signal);
	socket.onopen();
	expect(lists.load).not.toHaveBeenCalled();
	socket.onnews(turnNews('turn_began', 'c2'));
	socket.onclose();
	expect([...live.answering]).toEqual([]);
	socket.onopen();

	expect(lists.load).toHaveBeenCalledTimes(1);
	expect(open.catchUp).toHaveBeenCalledTimes(1);
});

test('a socket that first opens long after the page fetches missed changes', () => {
	vi.useFakeTimers();
	const { live, socket, lists, open } = createLiveUpdates();
	live.start(new AbortController().signal);
	vi.advanceTimersByTime(3_600_000);
	socket.onopen();

	expect(lists.load).toHaveBeenCalledTimes(1);
	expect(open.catchUp).toHaveBeenCalledTimes(1);
});

test('the socket opens after the first paint, and closes with the page', () => {
	vi.useFakeTimers();
	const { live, socket } = createLiveUpdates();
	const closing = new AbortController();
	live.start(closing.signal);
	expect(socket.open).not.toHaveBeenCalled();
	vi.runAllTimers();
	expect(socket.open).toHaveBeenCalledTimes(1);
	closing.abort();

	expect(socket.close).toHaveBeenCalledTimes(1);
});

test('the socket reconnects after a change of network', () => {
	const { live, socket } = createLiveUpdates();
	const closing = new AbortController();
	live.start(closing.signal);
	dispatchEvent(new Event('online'));
	closing.abort();
	dispatchEvent(new Event('online'));

	expect(socket.reconnect).toHaveBeenCalledTimes(1);
});
