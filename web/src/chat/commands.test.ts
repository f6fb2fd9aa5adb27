import { beforeEach, expect, test } from 'vitest';
import { Commands } from '$/chat/commands.svelte';
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
	new Commands(
		() => draft,
		() => ACTIONS,
		({ id }) => chosen.push(id)
	);
const names = (from: Commands) => from.found.map(({ id }) => id);

beforeEach(() => (chosen = []));

test('a slash offers everything that can be done by name right now', () => {
	draft = '/';
	expect(names(commands())).toEqual(['new', 'next', 'settings']);
});

test('what is typed after it narrows them down', () => {
	draft = '/NE';
	expect(names(commands())).toEqual(['new', 'next']);
});

test.each(['', 'hello', ' /new', '/new chat', '/etc/hosts', '/new\n', '/xyz', 'a/new'])(
	'%j is simply text',
	(text) => {
		draft = text;
		const some = commands();
		expect(names(some)).toEqual([]);
		expect(some.take('Enter')).toBe(false);
	}
);

test('arrows go round, and Enter or Tab chooses', () => {
	draft = '/';
	const some = commands();
	some.take('ArrowUp');
	expect(some.active).toBe(2);
	some.take('ArrowDown');
	some.take('ArrowDown');
	expect(some.active).toBe(1);
	some.take('Enter');
	some.take('Tab');
	expect(chosen).toEqual(['next', 'new']);
});

test('Escape sends them away until something else is written', () => {
	draft = '/n';
	const some = commands();
	expect(some.take('Escape')).toBe(true);
	expect(names(some)).toEqual([]);
	expect(some.take('Enter')).toBe(false);
	some.restart();
	expect(names(some)).toEqual(['new', 'next']);
});
