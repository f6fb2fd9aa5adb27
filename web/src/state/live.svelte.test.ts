// @vitest-environment jsdom
import { afterEach, expect, test, vi } from 'vitest';
import type { News } from '$/api/frames';
import type { Conversation } from '$/state/conversation.svelte';
import type { Conversations } from '$/state/conversations.svelte';
import { Live } from '$/state/live.svelte';

afterEach(() => vi.useRealTimers());

/** Somebody who looks at conversation c1, and whose list has it and c2. */
function listening() {
	const [opened, closed, told] = [vi.fn(), vi.fn(), vi.fn<(news: News) => void>()];
	const does = { open: vi.fn(), close: vi.fn(), renew: vi.fn() };
	const socket = { ...does, onopen: opened, onclose: closed, onnews: told };
	const open = { id: 'c1', hearOf: vi.fn(), catchUp: vi.fn(), retitle: vi.fn() };
	const known = (id: string) => (id === 'c1' || id === 'c2' ? {} : undefined);
	const lists = { find: known, note: vi.fn(), load: vi.fn() };
	const live = new Live(
		socket,
		lists as unknown as Conversations,
		() => open as unknown as Conversation
	);
	return { live, socket, open, lists };
}

const turn = (type: 'turn_began' | 'turn_ended', conversation_id: string): News => ({
	type,
	conversation_id,
	turn_exchange_id: `of ${conversation_id}`
});

test('a conversation that is answered elsewhere comes first and shows it until it is over', () => {
	const { live, socket, lists, open } = listening();
	socket.onnews(turn('turn_began', 'c2'));
	expect([...live.answering]).toEqual(['c2']);
	expect(lists.note).toHaveBeenCalledWith('c2', '', true);
	socket.onnews(turn('turn_ended', 'c2'));

	expect([...live.answering]).toEqual([]);
	expect(open.hearOf).not.toHaveBeenCalled();
});

test('the conversation that is open hears of its turns', () => {
	const { socket, open } = listening();
	socket.onnews(turn('turn_began', 'c1'));

	expect(open.hearOf).toHaveBeenCalledWith('of c1');
});

test('a title changes in the list and in the conversation', () => {
	const { socket, open, lists } = listening();
	socket.onnews({ type: 'title_changed', conversation_id: 'c1', title: 'Greetings' });

	expect(lists.note).toHaveBeenCalledWith('c1', 'Greetings', false);
	expect(open.retitle).toHaveBeenCalledWith('Greetings');
});

test('a conversation that is in no list is asked for, once', () => {
	vi.useFakeTimers();
	const { socket, lists } = listening();
	socket.onnews(turn('turn_began', 'c3'));
	socket.onnews({ type: 'title_changed', conversation_id: 'c3', title: 'New' });
	vi.runAllTimers();

	expect(lists.load).toHaveBeenCalledTimes(1);
	expect(lists.note).not.toHaveBeenCalled();
});

test('what was missed is fetched when the socket is there again, and not before', () => {
	const { live, socket, lists, open } = listening();
	live.begin(new AbortController().signal);
	socket.onopen();
	expect(lists.load).not.toHaveBeenCalled();
	socket.onnews(turn('turn_began', 'c2'));
	socket.onclose();
	expect([...live.answering]).toEqual([]);
	socket.onopen();

	expect(lists.load).toHaveBeenCalledTimes(1);
	expect(open.catchUp).toHaveBeenCalledTimes(1);
});

test('a socket that is opened long after the page was fetches what was missed', () => {
	vi.useFakeTimers();
	const { live, socket, lists, open } = listening();
	live.begin(new AbortController().signal);
	vi.advanceTimersByTime(3_600_000);
	socket.onopen();

	expect(lists.load).toHaveBeenCalledTimes(1);
	expect(open.catchUp).toHaveBeenCalledTimes(1);
});

test('the socket is opened when the page is there, and closed with it', () => {
	vi.useFakeTimers();
	const { live, socket } = listening();
	const left = new AbortController();
	live.begin(left.signal);
	expect(socket.open).not.toHaveBeenCalled();
	vi.runAllTimers();
	expect(socket.open).toHaveBeenCalledTimes(1);
	left.abort();

	expect(socket.close).toHaveBeenCalledTimes(1);
});

test('in another network the socket is made anew', () => {
	const { live, socket } = listening();
	const left = new AbortController();
	live.begin(left.signal);
	dispatchEvent(new Event('online'));
	left.abort();
	dispatchEvent(new Event('online'));

	expect(socket.renew).toHaveBeenCalledTimes(1);
});
