/**
 * How a person likes the page and its answers. Kept in this browser, because a phone and a
 * desk ask for different things.
 */
import type { Sampling } from '$/api/events.gen';
import { en } from '$/words/en';
import { preferredLanguage, wordsIn, type Language, type Words } from '$/words/words';

export type Theme = 'system' | 'light' | 'dark';
export type TextSize = 'small' | 'normal' | 'large';
export type Density = 'airy' | 'compact';
export type Preset = 'model' | 'exact' | 'balanced' | 'inventive' | 'custom';

interface Kept {
	theme: Theme;
	textSize: TextSize;
	density: Density;
	language: Language | 'auto';
	preset: Preset;
	custom: Partial<Sampling>;
	isSidebarFolded: boolean;
	/** Whether what is being written is read ahead by the model. */
	isReadAhead: boolean;
	/** Whether a continuation is proposed to what is being written. */
	hasGhostText: boolean;
	/** Whether the server is told how fast the page is, and what breaks in it. */
	isReported: boolean;
}

/** `first.ts` reads it too, before anything is painted. */
const KEY = 'hitsend.preferences';
const FIRST: Kept = {
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

const NUMBERS = [
	...['temperature', 'top_p', 'top_k', 'min_p', 'seed', 'max_tokens', 'repeat_penalty'],
	'num_beams'
];
const POLICIES: unknown[] = ['sample', 'greedy', 'beam'];

/** What each preset asks of the model. `model` leaves everything to it. */
export const PRESETS: Record<Exclude<Preset, 'custom'>, Partial<Sampling>> = {
	model: {},
	exact: { temperature: 0.2, top_p: 0.9 },
	balanced: { temperature: 0.7, top_p: 0.95 },
	inventive: { temperature: 1.1, top_p: 0.98 }
};

export class Preferences {
	#kept = $state.raw<Kept>(FIRST);
	words = $state.raw<Words>(en);
	language = $state<Language>('en');

	#storage: Storage;

	constructor(storage: Storage) {
		this.#storage = storage;
		this.#kept = read(storage);
	}

	get theme(): Theme {
		return this.#kept.theme;
	}
	get textSize(): TextSize {
		return this.#kept.textSize;
	}
	get density(): Density {
		return this.#kept.density;
	}
	get chosenLanguage(): Language | 'auto' {
		return this.#kept.language;
	}
	get preset(): Preset {
		return this.#kept.preset;
	}
	get custom(): Partial<Sampling> {
		return this.#kept.custom;
	}
	get isSidebarFolded(): boolean {
		return this.#kept.isSidebarFolded;
	}
	get isReadAhead(): boolean {
		return this.#kept.isReadAhead;
	}
	get hasGhostText(): boolean {
		return this.#kept.hasGhostText;
	}
	get isReported(): boolean {
		return this.#kept.isReported;
	}

	/** What the next message asks of the model. Beside numbers of one's own the page shows a policy. */
	get sampling(): Partial<Sampling> {
		return this.preset === 'custom' ? { policy: 'sample', ...this.custom } : PRESETS[this.preset];
	}

	/** Fetches the words, and gives the document its look. */
	async begin(): Promise<void> {
		this.#dress();
		await this.#speak();
	}

	async change(change: Partial<Kept>): Promise<void> {
		this.#kept = { ...this.#kept, ...change };
		write(this.#storage, this.#kept);
		this.#dress();
		if (change.language !== undefined) await this.#speak();
	}

	async #speak(): Promise<void> {
		const { language } = this.#kept;
		const wanted = language === 'auto' ? preferredLanguage(navigator.languages) : language;
		this.language = (await this.#learn(wanted)) ? wanted : 'en';
		document.documentElement.lang = this.language;
	}

	/** False where the words did not come: English is always there. */
	async #learn(language: Language): Promise<boolean> {
		try {
			this.words = await wordsIn(language);
			return true;
		} catch (error) {
			if (!(error instanceof TypeError)) throw error; // the browser's word for a lost file
			this.words = en;
			return false;
		}
	}

	#dress(): void {
		const { dataset } = document.documentElement;
		dataset['theme'] = this.theme;
		dataset['text'] = this.textSize;
		dataset['density'] = this.density;
		colourTheWindow(this.theme);
	}
}

/** The frame of an installed app and of a phone's browser. The page says both; the system chooses. */
function colourTheWindow(theme: Theme): void {
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

/** Whatever is missing, odd or from another version is as on the first day. */
function read(storage: Storage): Kept {
	try {
		const found = JSON.parse(storage.getItem(KEY) ?? '{}') as Record<string, unknown>;
		const chosen = Object.entries(CHOICES).flatMap(([name, known]) => {
			const value = known.find((one) => one === found[name]);
			return value === undefined ? [] : [[name, value]];
		});
		const switched = SWITCHES.flatMap((name) =>
			typeof found[name] === 'boolean' ? [[name, found[name]]] : []
		);
		return {
			...FIRST,
			...Object.fromEntries([...chosen, ...switched]),
			custom: samplingOf(found['custom'])
		};
	} catch {
		return FIRST;
	}
}

function samplingOf(value: unknown): Partial<Sampling> {
	if (typeof value !== 'object' || value === null) return {};
	const known = Object.entries(value).filter(([name, one]) =>
		name === 'policy' ? POLICIES.includes(one) : NUMBERS.includes(name) && typeof one === 'number'
	);
	return Object.fromEntries(known) as Partial<Sampling>;
}

/** A browser that keeps nothing (private, full) still shows what was chosen, for as long as it is open. */
function write(storage: Storage, kept: Kept): void {
	try {
		storage.setItem(KEY, JSON.stringify(kept));
	} catch (error) {
		if (!(error instanceof DOMException)) throw error;
	}
}
