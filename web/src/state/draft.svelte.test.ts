// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { Draft } from '$/state/draft.svelte';
import { Drafts } from '$/state/drafts';

const drafts = new Drafts(localStorage, 'ada');

beforeEach(() => localStorage.clear());

test('a tab where nothing was written leaves what another has kept', () => {
	const idle = new Draft(drafts, () => null);
	const busy = new Draft(drafts, () => null);
	busy.text = 'Written in the other tab.';
	busy.flush();
	idle.flush();

	expect(drafts.of(null)).toBe('Written in the other tab.');
});

test('a draft moves with its conversation and leaves nothing behind', () => {
	let home: string | null = null;
	const draft = new Draft(drafts, () => home);
	draft.text = 'And then?';
	draft.flush();
	home = 'c1';
	draft.flush();

	expect(drafts.of(null)).toBe('');
	expect(drafts.of('c1')).toBe('And then?');
});

test('an empty draft that moves does not erase what another tab has begun', () => {
	let home: string | null = null;
	const draft = new Draft(drafts, () => home);
	drafts.keep(null, 'Begun elsewhere.');
	home = 'c1';
	draft.flush();

	expect(drafts.of(null)).toBe('Begun elsewhere.');
	expect(drafts.of('c1')).toBe('');
});

test('what is written in a temporary chat is kept in no storage', () => {
	let home: string | null = null;
	const draft = new Draft(
		drafts,
		() => home,
		() => false
	);
	draft.text = 'Between us.';
	draft.flush();
	home = 'c1';
	draft.flush();

	expect(draft.text).toBe('Between us.');
	expect(localStorage).toHaveLength(0);
});
