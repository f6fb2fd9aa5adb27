import { expect, test } from 'vitest';
import { findActions, hasWords } from '$/palette/matchActions';
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

const findIds = (query: string) => findActions(ACTIONS, query).map(({ id }) => id);

test('actions that start with the query come first', () => {
	expect(findIds('new')).toEqual(['new', 'chat', 'renew']);
});

test('an action is found by its other words', () => {
	expect(findIds('dark')).toEqual(['theme']);
});

test('every word must match, in any order', () => {
	expect(findIds('chat new')).toEqual(['chat']);
	expect(findIds('chat old')).toEqual([]);
});

test('an empty query finds every action in its order', () => {
	expect(findIds('')).toEqual(ACTIONS.map(({ id }) => id));
});

test('accents and case do not matter', () => {
	expect(hasWords('Über Zürich', 'zurich uber')).toBe(true);
	expect(hasWords('Uber Zurich', 'ZÜR')).toBe(true);
});
