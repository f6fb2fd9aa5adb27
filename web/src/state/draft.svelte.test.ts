// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { Draft } from '$/state/draft.svelte';
import { Drafts } from '$/state/drafts';

const drafts = new Drafts(localStorage, 'ada');

beforeEach(() => localStorage.clear());

test('a tab without changes does not overwrite the draft of another tab', () => {
	const idle = new Draft(drafts, () => null);
	const busy = new Draft(drafts, () => null);
	busy.text = 'Written in the other tab.';
	busy.flush();
	idle.flush();

	expect(drafts.get(null)).toBe('Written in the other tab.');
});

test('a draft moves with its conversation, and the old entry is deleted', () => {
	let conversationId: string | null = null;
	const draft = new Draft(drafts, () => conversationId);
	draft.text = 'And then?';
	draft.flush();
	conversationId = 'c1';
	draft.flush();

	expect(drafts.get(null)).toBe('');
	expect(drafts.get('c1')).toBe('And then?');
});

test('an empty draft that moves does not erase the draft of another tab', () => {
	let conversationId: string | null = null;
	const draft = new Draft(drafts, () => conversationId);
	drafts.set(null, 'Begun elsewhere.');
	conversationId = 'c1';
	draft.flush();

	expect(drafts.get(null)).toBe('Begun elsewhere.');
	expect(drafts.get('c1')).toBe('');
});

test('a draft in a temporary chat is not stored', () => {
	let conversationId: string | null = null;
	const draft = new Draft(
		drafts,
		() => conversationId,
		() => false
	);
	draft.text = 'Between us.';
	draft.flush();
	conversationId = 'c1';
	draft.flush();

	expect(draft.text).toBe('Between us.');
	expect(localStorage).toHaveLength(0);
});
