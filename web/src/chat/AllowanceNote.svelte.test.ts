// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test } from 'vitest';
import AllowanceNote from '$/chat/AllowanceNote.svelte';
import { Allowance } from '$/state/allowance.svelte';
import type { Workspace } from '$/state/workspace.svelte';
import { en } from '$/words/en';
import { setWords } from '$/words/words';

const NoteInEnglish: typeof AllowanceNote = (anchor, props) => {
	setWords(en);
	return AllowanceNote(anchor, props);
};
const allowance = new Allowance({ getAllowance: () => new Promise(() => undefined) });
const props = { workspace: { allowance } as Workspace };
let note: object;
afterEach(() => unmount(note));

function ariaLiveWith(remaining: number): string | null | undefined {
	allowance.tightest = { kind: 'tokensDay', limit: 100, remaining, resetAt: null };
	flushSync();
	return document.querySelector('[role=status]')?.getAttribute('aria-live');
}

test('the allowance is announced only when it is low', () => {
	note = mount(NoteInEnglish, { target: document.body, props, context: new Map() });
	expect([ariaLiveWith(90), ariaLiveWith(80)]).toEqual(['off', 'off']);
	expect(ariaLiveWith(1)).toBe('polite');
	expect(document.body.textContent?.trim()).toBe('1 token left today');
});
