// @vitest-environment jsdom
import { flushSync, mount, unmount, type Component } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';
import Progress from '$/ui/Progress.svelte';
import Segmented from '$/ui/Segmented.svelte';
import Select from '$/ui/Select.svelte';
import Switch from '$/ui/Switch.svelte';

const OPTIONS = [
	{ value: 'light', label: 'Light' },
	{ value: 'dark', label: 'Dark' }
];
let shown: Record<string, unknown> | undefined;

function show<Props extends Record<string, unknown>>(part: Component<Props>, props: Props): void {
	shown = mount(part, { target: document.body, props });
	flushSync();
}

function find<Kind extends Element>(selector: string): Kind {
	const found = document.querySelector<Kind>(selector);
	if (found === null) throw new Error(`There is no ${selector}.`);
	return found;
}

afterEach(() => {
	if (shown !== undefined) void unmount(shown);
	document.body.replaceChildren();
});

describe('A segmented choice', () => {
	it('is a named group of radio buttons, of which one is chosen', () => {
		show(Segmented, { label: 'Theme', value: 'dark', options: OPTIONS, onchange: vi.fn() });
		const group = find('[role=radiogroup]');
		const name = document.getElementById(group.getAttribute('aria-labelledby') ?? '');
		expect(name?.textContent).toBe('Theme');
		const radios = [...document.querySelectorAll('input')];
		expect(radios.map((radio) => radio.checked)).toEqual([false, true]);
		expect(radios.map((radio) => radio.labels?.[0]?.textContent?.trim())).toEqual([
			'Light',
			'Dark'
		]);
	});
	it('tells what was chosen', () => {
		const onchange = vi.fn();
		show(Segmented, { label: 'Theme', value: 'dark', options: OPTIONS, onchange });
		find<HTMLInputElement>('input[value=light]').click();
		expect(onchange).toHaveBeenCalledExactlyOnceWith('light');
	});
});

describe('A select', () => {
	it('is labelled, and tells what was chosen', () => {
		const onchange = vi.fn();
		show(Select, { label: 'Theme', value: 'dark', options: OPTIONS, onchange });
		const select = find<HTMLSelectElement>('select');
		expect(select.labels[0]?.textContent).toBe('Theme');
		expect(select.value).toBe('dark');
		select.selectedIndex = 0;
		select.dispatchEvent(new Event('change', { bubbles: true }));
		expect(onchange).toHaveBeenCalledExactlyOnceWith('light');
	});
});

describe('A switch', () => {
	it('says whether it is on, and asks for the other', () => {
		const onchange = vi.fn();
		show(Switch, { label: 'Read aloud', isOn: false, onchange, hint: 'At once.' });
		const button = find<HTMLButtonElement>('[role=switch]');
		expect(button.getAttribute('aria-checked')).toBe('false');
		expect(button.textContent?.trim()).toBe('Read aloud');
		button.click();
		expect(onchange).toHaveBeenCalledExactlyOnceWith(true);
	});
});

describe('A progress bar', () => {
	it('says how far it is', () => {
		show(Progress, { label: 'Fetching', value: 30, max: 120 });
		expect(find<HTMLProgressElement>('progress').position).toBe(0.25);
	});
	it('is indefinite without a value, and when nobody knows how much there is', () => {
		show(Progress, { label: 'Fetching', value: null, max: 0 });
		expect(find('progress').hasAttribute('value')).toBe(false);
	});
});
