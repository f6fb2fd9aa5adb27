import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type AST } from 'svelte/compiler';
import { expect, test } from 'vitest';
import { de } from '$/words/de';
import { en } from '$/words/en';
import { memoryWords } from '$/words/memory';
import { promptWords } from '$/words/prompts';
import { spendingWords } from '$/words/spending';
import { tokensWords } from '$/words/tokens';
import { preferredLanguage } from '$/words/words';

const SRC = join(import.meta.dirname, '..');
const components = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
	(path) => path.endsWith('.svelte') && !path.startsWith('styles_page')
);
const SPOKEN = ['alt', 'aria-label', 'aria-description', 'label', 'placeholder', 'title', 'tip'];

/** What a person would read of a component that is not from the catalogue. */
function strayWords(path: string): string[] {
	const { fragment } = parse(readFileSync(join(SRC, path), 'utf8'), { modern: true });
	const stray: string[] = [];
	const look = (
		node: AST.SvelteNode | AST.Fragment | null | undefined,
		isSpoken: boolean
	): void => {
		if (node == null || typeof node !== 'object') return;
		if (node.type === 'Text' && isSpoken && /\p{L}{2}/u.test(node.data))
			stray.push(node.data.trim());
		if (node.type === 'StyleDirective') return;
		if (node.type === 'Attribute') {
			const values = Array.isArray(node.value) ? node.value : [];
			for (const value of values) look(value, SPOKEN.includes(node.name));
			return;
		}
		for (const [key, child] of Object.entries(node)) {
			if (key === 'expression' || key === 'metadata') continue;
			for (const one of Array.isArray(child) ? child : [child]) {
				if (one !== null && typeof one === 'object' && 'type' in one) {
					look(one as AST.SvelteNode, true);
				}
			}
		}
	};
	look(fragment, true);
	return stray;
}

test.each(components)('%s says only what is in the catalogue', (path) => {
	expect(strayWords(path).filter((words) => words !== 'hitsend')).toEqual([]);
});

/** Every sentence, by its place. Functions are asked with a few numbers and names. */
function sentences(part: object, at = ''): Map<string, string> {
	const found = new Map<string, string>();
	for (const [name, value] of Object.entries(part) as [string, unknown][]) {
		const place = `${at}.${name}`;
		if (typeof value === 'string') found.set(place, value);
		else if (typeof value === 'object' && value !== null) {
			for (const [below, words] of sentences(value, place)) found.set(below, words);
		}
	}
	return found;
}

/** Also what comes later than the rest. */
const english = {
	...en,
	memory: memoryWords('en'),
	prompts: promptWords('en'),
	spending: spendingWords('en'),
	tokens: tokensWords('en')
};
const german = {
	...de,
	memory: memoryWords('de'),
	prompts: promptWords('de'),
	spending: spendingWords('de'),
	tokens: tokensWords('de')
};

test('no sentence is empty, in any language', () => {
	for (const language of [english, german]) {
		for (const [place, words] of sentences(language)) expect(words, place).not.toBe('');
	}
});

test('German is German: hardly a longer sentence reads as in English', () => {
	const inGerman = sentences(german);
	const same = [...sentences(english)].filter(
		([place, words]) => words.split(' ').length > 2 && inGerman.get(place) === words
	);
	expect(same).toEqual([]);
});

test.each([
	[['de-AT', 'en'], 'de'],
	[['fr', 'en-GB'], 'en'],
	[['fr'], 'en'],
	[[], 'en']
])('who asks for %j is answered in %s', (asked, language) => {
	expect(preferredLanguage(asked)).toBe(language);
});
