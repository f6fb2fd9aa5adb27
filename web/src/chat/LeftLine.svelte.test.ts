// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, expect, test } from 'vitest';
import LeftLine from '$/chat/LeftLine.svelte';
import { Allowance } from '$/state/allowance.svelte';
import type { Desk } from '$/state/desk.svelte';
import { en } from '$/words/en';
import { setWords } from '$/words/words';

const inEnglish: typeof LeftLine = (anchor, props) => {
	setWords(en);
	return LeftLine(anchor, props);
};
const allowance = new Allowance({ allowance: () => new Promise(() => undefined) });
const props = { desk: { allowance } as Desk };
let line: object;
afterEach(() => unmount(line));

function left(remaining: number): string | null | undefined {
	allowance.scarce = { kind: 'tokensDay', limit: 100, remaining, resetAt: null };
	flushSync();
	return document.querySelector('[role=status]')?.getAttribute('aria-live');
}

test('what is left is read out where it is little, not after every answer', () => {
	line = mount(inEnglish, { target: document.body, props, context: new Map() });
	expect([left(90), left(80)]).toEqual(['off', 'off']);
	expect(left(1)).toBe('polite');
	expect(document.body.textContent?.trim()).toBe('1 token left today');
});
