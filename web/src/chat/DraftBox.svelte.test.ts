// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import DraftBox from '$/chat/DraftBox.svelte';
import { Preferences } from '$/state/preferences.svelte';
import { Workspace } from '$/state/workspace.svelte';
import { en } from '$/words/en';
import { setWords } from '$/words/words';

let requests: string[] = [];
let signals: (AbortSignal | null | undefined)[] = [];
const api = new Api((path, init) => {
	requests.push(path);
	signals.push(init?.signal);
	return new Promise(() => undefined);
});
const BoxInEnglish: typeof DraftBox = (anchor, props) => {
	setWords(en);
	return DraftBox(anchor, props);
};

beforeEach(() => {
	vi.useFakeTimers();
	vi.stubGlobal('matchMedia', () => ({ matches: false }));
	requests = [];
	signals = [];
});
afterEach(() => {
	vi.unstubAllGlobals();
	vi.useRealTimers();
});

function openBox(): { workspace: Workspace; box: object; write: (text: string) => void } {
	const user = { id: 'u', name: 'ada', role: 'member' as const };
	const workspace = new Workspace(api, new Preferences(localStorage), user, () => undefined);
	const handlers = { onkey: vi.fn(), oninput: vi.fn(), onpaste: vi.fn() };
	const props = { workspace, conversation: workspace.open, list: null, active: 0, ...handlers };
	const box = mount(BoxInEnglish, { target: document.body, props, context: new Map() });
	flushSync();
	const area = document.querySelector('textarea');
	const write = (text: string) => {
		if (area === null) return;
		area.value = text;
		area.setSelectionRange(text.length, text.length);
		area.dispatchEvent(new InputEvent('input', { inputType: 'insertText', bubbles: true }));
	};
	return { workspace, box, write };
}

test('a completion is requested after a pause in typing, and not once the box is gone', async () => {
	const { workspace, box, write } = openBox();
	write('What is the end');
	await vi.advanceTimersByTimeAsync(200);
	expect(requests).toHaveLength(1);
	write('What is the end of');
	await unmount(box);
	await vi.advanceTimersByTimeAsync(200);

	expect(requests).toHaveLength(1);
	workspace.close();
});

test('sending a message cancels the pending completion request', async () => {
	const { workspace, box, write } = openBox();
	write('What is the end');
	await vi.advanceTimersByTimeAsync(200);
	expect(signals[0]?.aborted).toBe(false);
	void workspace.open.send(workspace.sendOptions);
	flushSync();

	expect(requests[1]).toBe('/backend-api/f/conversation');
	expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
	await unmount(box);
	workspace.close();
});
