/**
 * The words of the page, in the language of whoever looks at it.
 *
 * `en/` and `de/` are the catalogue: one file for each part of the page, the same names in
 * both. English is there from the start, any other language is fetched when it is chosen.
 * What takes a number or a name is a function, because languages put them in other places.
 */
import { createContext } from 'svelte';
import { en } from '$/words/en';

export type Words = typeof en;
export type Language = 'en' | 'de';

export const LANGUAGES: { code: Language; name: string }[] = [
	{ code: 'en', name: 'English' },
	{ code: 'de', name: 'Deutsch' }
];

/** Given once, at the root. A change of language draws the page anew. */
export const [words, setWords] = createContext<Words>();

export async function wordsIn(language: Language): Promise<Words> {
	switch (language) {
		case 'en':
			return en;
		case 'de':
			return (await import('$/words/de')).de;
	}
}

/** The first language the browser asks for that we speak. */
export function preferredLanguage(asked: readonly string[]): Language {
	for (const tag of asked) {
		const found = LANGUAGES.find(({ code }) => tag.toLowerCase().split('-')[0] === code);
		if (found !== undefined) return found.code;
	}
	return 'en';
}
