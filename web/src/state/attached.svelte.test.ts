// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Attached, MAX_ATTACHMENTS } from '$/state/attached.svelte';
import { Drafts } from '$/state/drafts';

const drafts = new Drafts(localStorage, 'ada');
const open = (id: string | null, isStorable = true) =>
	new Attached(
		drafts,
		() => id,
		() => isStorable
	);
const text = (uri: string) => ({ title: uri, server: 'Wiki', uri, text: 'Text' });

test('what is attached is kept with the conversation until it is sent', () => {
	open('c1').add(text('a'), text('b'));
	expect(open('c1').items).toEqual([text('a'), text('b')]);
	expect(open(null).items).toEqual([]);
	expect(open('c1').take()).toEqual([text('a'), text('b')]);
	expect(open('c1').items).toEqual([]);
});

test('the same text is attached once, and only so many', () => {
	const attached = open('c2', false);
	attached.add(text('a'));
	attached.add(text('a'));
	expect(attached.items).toHaveLength(1);
	attached.add(...Array.from({ length: 20 }, (_, i) => text(String(i))));
	expect(attached.items).toHaveLength(MAX_ATTACHMENTS);
	expect(attached.isFull).toBe(true);
});

test('what is attached in a temporary chat is not stored', () => {
	open('c3', false).add(text('a'));
	expect(open('c3').items).toEqual([]);
});

test('a refused message gets back what was attached to it', () => {
	open('c4').add(text('new'));
	drafts.restore('c4', 'Hello', [text('old')]);
	expect(open('c4').items).toEqual([text('old'), text('new')]);
});

test('storage that another version has written is not trusted', () => {
	localStorage.setItem('hitsend.draft.ada.c5.attached', '{');
	expect(open('c5').items).toEqual([]);
});
