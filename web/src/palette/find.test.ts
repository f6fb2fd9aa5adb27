import { expect, test } from 'vitest';
import { findActions, hasWords } from '$/palette/find';
import type { Action } from '$/state/action';

const ACTIONS: Action[] = [
	{ id: 'renew', label: 'Renew', icon: 'plus', run: () => undefined },
	{
		id: 'theme',
		label: 'Change the theme',
		also: 'dark light colour',
		icon: 'plus',
		run: () => undefined
	},
	{ id: 'chat', label: 'Start a new chat', icon: 'plus', run: () => undefined },
	{ id: 'new', label: 'New folder', icon: 'plus', run: () => undefined }
];

const found = (query: string) => findActions(ACTIONS, query).map(({ id }) => id);

test('what begins with the typed letters comes first', () => {
	expect(found('new')).toEqual(['new', 'chat', 'renew']);
});

test('an action is found by its other words', () => {
	expect(found('dark')).toEqual(['theme']);
});

test('all words have to be there, in any order', () => {
	expect(found('chat new')).toEqual(['chat']);
	expect(found('chat old')).toEqual([]);
});

test('without a word everything is found, in its order', () => {
	expect(found('')).toEqual(ACTIONS.map(({ id }) => id));
});

test('accents and case do not matter', () => {
	expect(hasWords('Über Zürich', 'zurich uber')).toBe(true);
	expect(hasWords('Uber Zurich', 'ZÜR')).toBe(true);
});
