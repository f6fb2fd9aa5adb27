import { beforeEach, expect, test } from 'vitest';
import { SlashCommands } from '$/chat/slashCommands.svelte';
import type { Action } from '$/state/action';

let draft = '';
let chosen: string[] = [];
const action = (id: string, rest: Partial<Action> = {}): Action => ({
	id,
	label: id,
	icon: 'plus',
	run: () => undefined,
	...rest
});
const ACTIONS = [
	action('new', { slash: ['neu', 'new'] }),
	action('next', { slash: ['next'] }),
	action('settings', { slash: ['settings'] }),
	action('palette'),
	action('nothing', { slash: ['nothing'], isAvailable: () => false })
];
const commands = () =>
	new SlashCommands(
		() => draft,
		() => ACTIONS,
		({ id }) => chosen.push(id)
	);
const names = (from: SlashCommands) => from.matches.map(({ id }) => id);

beforeEach(() => (chosen = []));

test('a slash lists every available command', () => {
	draft = '/';
	expect(names(commands())).toEqual(['new', 'next', 'settings']);
});

test('what follows the slash filters the list', () => {
	draft = '/NE';
	expect(names(commands())).toEqual(['new', 'next']);
});

test.each(['', 'hello', ' /new', '/new chat', '/etc/hosts', '/new\n', '/xyz', 'a/new'])(
	'%j is not a command',
	(text) => {
		draft = text;
		const some = commands();
		expect(names(some)).toEqual([]);
		expect(some.handleKey('Enter')).toBe(false);
	}
);

test('the arrows wrap around, and Enter or Tab chooses', () => {
	draft = '/';
	const some = commands();
	some.handleKey('ArrowUp');
	expect(some.active).toBe(2);
	some.handleKey('ArrowDown');
	some.handleKey('ArrowDown');
	expect(some.active).toBe(1);
	some.handleKey('Enter');
	some.handleKey('Tab');
	expect(chosen).toEqual(['next', 'new']);
});

test('Escape closes the list until the draft changes', () => {
	draft = '/n';
	const some = commands();
	expect(some.handleKey('Escape')).toBe(true);
	expect(names(some)).toEqual([]);
	expect(some.handleKey('Enter')).toBe(false);
	some.reset();
	expect(names(some)).toEqual(['new', 'next']);
});
