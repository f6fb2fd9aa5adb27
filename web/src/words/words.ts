/**
 * The words of the page in the person's language.
 *
 * `en/` and `de/` are the catalogue: one file for each part of the page, with the same keys.
 * English is part of the page, other languages are fetched. A sentence with a number or a name
 * is a function, because languages place them differently.
 */
import { createContext } from 'svelte';
import { en } from '$/words/en';

export type Words = typeof en;
export type Language = 'en' | 'de';

export const LANGUAGES: { code: Language; name: string }[] = [
	{ code: 'en', name: 'English' },
	{ code: 'de', name: 'Deutsch' }
];

/** Set once, at the root. A change of language redraws the page. */
export const [words, setWords] = createContext<Words>();

export async function loadWords(language: Language): Promise<Words> {
	switch (language) {
		case 'en':
			return en;
		case 'de':
			return (await import('$/words/de')).de;
	}
}

/** Returns the first of the browser's languages that the page has. */
export function pickLanguage(tags: readonly string[]): Language {
	for (const tag of tags) {
		const found = LANGUAGES.find(({ code }) => tag.toLowerCase().split('-')[0] === code);
		if (found !== undefined) return found.code;
	}
	return 'en';
}

/** Returns a getter for the words of a page that is loaded later. They are loaded with it, in all languages. */
export function createCatalogue<T>(en: T, de: T): (language?: string) => T {
	const languages: Record<Language, T> = { en, de };
	return (language = document.documentElement.lang) => languages[language as Language] ?? en;
}
