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
let mounted: Record<string, unknown> | undefined;

function render<Props extends Record<string, unknown>>(part: Component<Props>, props: Props): void {
	mounted = mount(part, { target: document.body, props });
	flushSync();
}

function find<Kind extends Element>(selector: string): Kind {
	const found = document.querySelector<Kind>(selector);
	if (found === null) throw new Error(`There is no ${selector}.`);
	return found;
}

afterEach(() => {
	if (mounted !== undefined) void unmount(mounted);
	document.body.replaceChildren();
});

describe('A segmented choice', () => {
	it('is a named group of radio buttons, of which one is chosen', () => {
		render(Segmented, { label: 'Theme', value: 'dark', options: OPTIONS, onchange: vi.fn() });
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
	it('reports the chosen option', () => {
		const onchange = vi.fn();
		render(Segmented, { label: 'Theme', value: 'dark', options: OPTIONS, onchange });
		find<HTMLInputElement>('input[value=light]').click();
		expect(onchange).toHaveBeenCalledExactlyOnceWith('light');
	});
});

describe('A select', () => {
	it('is labelled and reports the chosen option', () => {
		const onchange = vi.fn();
		render(Select, { label: 'Theme', value: 'dark', options: OPTIONS, onchange });
		const select = find<HTMLSelectElement>('select');
		expect(select.labels[0]?.textContent).toBe('Theme');
		expect(select.value).toBe('dark');
		select.selectedIndex = 0;
		select.dispatchEvent(new Event('change', { bubbles: true }));
		expect(onchange).toHaveBeenCalledExactlyOnceWith('light');
	});
});

describe('A switch', () => {
	it('shows its state and asks for the opposite', () => {
		const onchange = vi.fn();
		render(Switch, { label: 'Read aloud', isOn: false, onchange, hint: 'At once.' });
		const button = find<HTMLButtonElement>('[role=switch]');
		expect(button.getAttribute('aria-checked')).toBe('false');
		expect(button.textContent?.trim()).toBe('Read aloud');
		button.click();
		expect(onchange).toHaveBeenCalledExactlyOnceWith(true);
	});
});

describe('A progress bar', () => {
	it('shows its progress', () => {
		render(Progress, { label: 'Fetching', value: 30, max: 120 });
		expect(find<HTMLProgressElement>('progress').position).toBe(0.25);
	});
	it('is indeterminate without a value or a maximum', () => {
		render(Progress, { label: 'Fetching', value: null, max: 0 });
		expect(find('progress').hasAttribute('value')).toBe(false);
	});
});
