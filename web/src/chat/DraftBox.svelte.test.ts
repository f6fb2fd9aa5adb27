// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import DraftBox from '$/chat/DraftBox.svelte';
import { Desk } from '$/state/desk.svelte';
import { Preferences } from '$/state/preferences.svelte';
import { en } from '$/words/en';
import { setWords } from '$/words/words';

let asked: string[] = [];
let signals: (AbortSignal | null | undefined)[] = [];
const api = new Api((path, init) => {
	asked.push(path);
	signals.push(init?.signal);
	return new Promise(() => undefined);
});
const inEnglish: typeof DraftBox = (anchor, props) => {
	setWords(en);
	return DraftBox(anchor, props);
};

beforeEach(() => {
	vi.useFakeTimers();
	vi.stubGlobal('matchMedia', () => ({ matches: false }));
	asked = [];
	signals = [];
});
afterEach(() => {
	vi.unstubAllGlobals();
	vi.useRealTimers();
});

function opened(): { desk: Desk; box: object; write: (text: string) => void } {
	const user = { id: 'u', name: 'ada', role: 'member' as const };
	const desk = new Desk(api, new Preferences(localStorage), user, () => undefined);
	const deaf = { onkey: vi.fn(), oninput: vi.fn(), onpaste: vi.fn() };
	const props = { desk, conversation: desk.open, list: null, active: 0, ...deaf };
	const box = mount(inEnglish, { target: document.body, props, context: new Map() });
	flushSync();
	const area = document.querySelector('textarea');
	const write = (text: string) => {
		if (area === null) return;
		area.value = text;
		area.setSelectionRange(text.length, text.length);
		area.dispatchEvent(new InputEvent('input', { inputType: 'insertText', bubbles: true }));
	};
	return { desk, box, write };
}

test('what is written is asked about once it rests, and not when the box is gone', async () => {
	const { desk, box, write } = opened();
	write('What is the end');
	await vi.advanceTimersByTimeAsync(200);
	expect(asked).toHaveLength(1);
	write('What is the end of');
	await unmount(box);
	await vi.advanceTimersByTimeAsync(200);

	expect(asked).toHaveLength(1);
	desk.leave();
});

test('what was asked before a message is sent is given up for it', async () => {
	const { desk, box, write } = opened();
	write('What is the end');
	await vi.advanceTimersByTimeAsync(200);
	expect(signals[0]?.aborted).toBe(false);
	void desk.open.send(desk.ask);
	flushSync();

	expect(asked[1]).toBe('/backend-api/f/conversation');
	expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
	await unmount(box);
	desk.leave();
});
