/**
 * A person's preferences for the page and its answers. Stored per browser, because a phone and a
 * desktop differ.
 */
import type { Sampling } from '$/api/events.gen';
import { en } from '$/words/en';
import { pickLanguage, loadWords, type Language, type Words } from '$/words/words';

export type Theme = 'system' | 'light' | 'dark';
export type TextSize = 'small' | 'normal' | 'large';
export type Density = 'airy' | 'compact';
export type Preset = 'model' | 'exact' | 'balanced' | 'inventive' | 'custom';

interface StoredPreferences {
	theme: Theme;
	textSize: TextSize;
	density: Density;
	language: Language | 'auto';
	preset: Preset;
	custom: Partial<Sampling>;
	isSidebarFolded: boolean;
	/** Whether the server prefills the prompt while the person writes. */
	isReadAhead: boolean;
	/** Whether autocomplete is on. */
	hasGhostText: boolean;
	/** Whether the page sends telemetry. */
	isReported: boolean;
}

/** `boot.ts` reads it too. */
const KEY = 'hitsend.preferences';
const DEFAULTS: StoredPreferences = {
	theme: 'system',
	textSize: 'normal',
	density: 'airy',
	language: 'auto',
	preset: 'model',
	custom: {},
	isSidebarFolded: false,
	isReadAhead: true,
	hasGhostText: true,
	isReported: true
};
const SWITCHES = ['isSidebarFolded', 'isReadAhead', 'hasGhostText', 'isReported'] as const;
const CHOICES = {
	theme: ['system', 'light', 'dark'],
	textSize: ['small', 'normal', 'large'],
	density: ['airy', 'compact'],
	language: ['auto', 'en', 'de'],
	preset: ['model', 'exact', 'balanced', 'inventive', 'custom']
} as const;

const SAMPLING_NUMBERS = [
	...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'max_tokens', 'repeat_penalty'],
	'num_beams'
];
const POLICIES: unknown[] = ['sample', 'greedy', 'beam'];

/** The sampling of each preset. `model` uses the model's defaults. */
export const PRESETS: Record<Exclude<Preset, 'custom'>, Partial<Sampling>> = {
	model: {},
	exact: { temperature: 0.2, top_p: 0.9 },
	balanced: { temperature: 0.7, top_p: 0.95 },
	inventive: { temperature: 1.1, top_p: 0.98 }
};

export class Preferences {
	#stored = $state.raw<StoredPreferences>(DEFAULTS);
	words = $state.raw<Words>(en);
	language = $state<Language>('en');

	#storage: Storage;

	constructor(storage: Storage) {
		this.#storage = storage;
		this.#stored = read(storage);
	}

	get theme(): Theme {
		return this.#stored.theme;
	}
	get textSize(): TextSize {
		return this.#stored.textSize;
	}
	get density(): Density {
		return this.#stored.density;
	}
	get chosenLanguage(): Language | 'auto' {
		return this.#stored.language;
	}
	get preset(): Preset {
		return this.#stored.preset;
	}
	get custom(): Partial<Sampling> {
		return this.#stored.custom;
	}
	get isSidebarFolded(): boolean {
		return this.#stored.isSidebarFolded;
	}
	get isReadAhead(): boolean {
		return this.#stored.isReadAhead;
	}
	get hasGhostText(): boolean {
		return this.#stored.hasGhostText;
	}
	get isReported(): boolean {
		return this.#stored.isReported;
	}

	/** The sampling of the next message. */
	get sampling(): Partial<Sampling> {
		return this.preset === 'custom' ? { policy: 'sample', ...this.custom } : PRESETS[this.preset];
	}

	/** Applies the theme, and loads the words. */
	async start(): Promise<void> {
		this.#applyToDocument();
		await this.#loadWords();
	}

	async change(change: Partial<StoredPreferences>): Promise<void> {
		this.#stored = { ...this.#stored, ...change };
		write(this.#storage, this.#stored);
		this.#applyToDocument();
		if (change.language !== undefined) await this.#loadWords();
	}

	async #loadWords(): Promise<void> {
		const { language } = this.#stored;
		const wanted = language === 'auto' ? pickLanguage(navigator.languages) : language;
		this.language = (await this.#fetchWords(wanted)) ? wanted : 'en';
		document.documentElement.lang = this.language;
	}

	/** Returns false if the fetch failed. English needs no fetch. */
	async #fetchWords(language: Language): Promise<boolean> {
		try {
			this.words = await loadWords(language);
			return true;
		} catch (error) {
			if (!(error instanceof TypeError)) throw error; // A dynamic import that fails throws a TypeError.
			this.words = en;
			return false;
		}
	}

	#applyToDocument(): void {
		const { dataset } = document.documentElement;
		dataset['theme'] = this.theme;
		dataset['text'] = this.textSize;
		dataset['density'] = this.density;
		setThemeColor(this.theme);
	}
}

/** Colours the browser's frame. index.html has one meta tag for each colour scheme. */
function setThemeColor(theme: Theme): void {
	for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
		meta.dataset['scheme'] ??= /light|dark/.exec(meta.media)?.[0] ?? '';
		const { scheme } = meta.dataset;
		meta.media =
			theme === 'system'
				? `(prefers-color-scheme: ${scheme})`
				: scheme === theme
					? 'all'
					: 'not all';
	}
}

/** Missing and invalid values, also of another version, become the defaults. */
function read(storage: Storage): StoredPreferences {
	try {
		const stored = JSON.parse(storage.getItem(KEY) ?? '{}') as Record<string, unknown>;
		const chosen = Object.entries(CHOICES).flatMap(([name, known]) => {
			const value = known.find((one) => one === stored[name]);
			return value === undefined ? [] : [[name, value]];
		});
		const switched = SWITCHES.flatMap((name) =>
			typeof stored[name] === 'boolean' ? [[name, stored[name]]] : []
		);
		return {
			...DEFAULTS,
			...Object.fromEntries([...chosen, ...switched]),
			custom: parseSampling(stored['custom'])
		};
	} catch {
		return DEFAULTS;
	}
}

function parseSampling(value: unknown): Partial<Sampling> {
	if (typeof value !== 'object' || value === null) return {};
	const known = Object.entries(value).filter(([name, one]) =>
		name === 'policy'
			? POLICIES.includes(one)
			: SAMPLING_NUMBERS.includes(name) && typeof one === 'number'
	);
	return Object.fromEntries(known) as Partial<Sampling>;
}

/** If storage is off or full, preferences last as long as the page. */
function write(storage: Storage, preferences: StoredPreferences): void {
	try {
		storage.setItem(KEY, JSON.stringify(preferences));
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
	}
}
