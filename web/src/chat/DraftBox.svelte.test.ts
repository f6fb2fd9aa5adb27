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
const api = new Api((path) => {
	asked.push(path);
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
