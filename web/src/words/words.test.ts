import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, type AST } from 'svelte/compiler';
import { expect, test } from 'vitest';
import { de } from '$/words/de';
import { en } from '$/words/en';
import { inspectorWords } from '$/words/inspector';
import { memoryWords } from '$/words/memory';
import { moderationWords } from '$/words/moderation';
import { promptWords } from '$/words/prompts';
import { secondFactorWords } from '$/words/secondFactor';
import { serverWords } from '$/words/servers';
import { settingsWords } from '$/words/settings';
import { usageWords } from '$/words/usage';
import { tokensWords } from '$/words/tokens';
import { pickLanguage } from '$/words/words';

const SRC = join(import.meta.dirname, '..');
const components = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
	(path) => path.endsWith('.svelte') && !path.startsWith('styles_page')
);
const TEXT_ATTRIBUTES = [
	'alt',
	'aria-label',
	'aria-description',
	'label',
	'placeholder',
	'title',
	'tip'
];

/** Returns the text of a component that is not from the catalogue. */
function findStrayWords(path: string): string[] {
	const { fragment } = parse(readFileSync(join(SRC, path), 'utf8'), { modern: true });
	const stray: string[] = [];
	const visit = (
		node: AST.SvelteNode | AST.Fragment | null | undefined,
		isShown: boolean
	): void => {
		if (node == null || typeof node !== 'object') return;
		if (node.type === 'Text' && isShown && /\p{L}{2}/u.test(node.data))
			stray.push(node.data.trim());
		if (node.type === 'StyleDirective') return;
		if (node.type === 'Attribute') {
			const values = Array.isArray(node.value) ? node.value : [];
			for (const value of values) visit(value, TEXT_ATTRIBUTES.includes(node.name));
			return;
		}
		for (const [key, child] of Object.entries(node)) {
			if (key === 'expression' || key === 'metadata') continue;
			for (const one of Array.isArray(child) ? child : [child]) {
				if (one !== null && typeof one === 'object' && 'type' in one) {
					visit(one as AST.SvelteNode, true);
				}
			}
		}
	};
	visit(fragment, true);
	return stray;
}

test.each(components)('%s has no text of its own: its words come from the catalogue', (path) => {
	expect(findStrayWords(path).filter((words) => words !== 'hitsend')).toEqual([]);
});

/** Returns every sentence by its key. Leaves out functions. */
function collectSentences(part: object, at = ''): Map<string, string> {
	const found = new Map<string, string>();
	for (const [name, value] of Object.entries(part) as [string, unknown][]) {
		const place = `${at}.${name}`;
		if (typeof value === 'string') found.set(place, value);
		else if (typeof value === 'object' && value !== null) {
			for (const [below, words] of collectSentences(value, place)) found.set(below, words);
		}
	}
	return found;
}

/** Includes the catalogues that are loaded later. */
const english = {
	...en,
	inspector: inspectorWords('en'),
	memory: memoryWords('en'),
	moderation: moderationWords('en'),
	prompts: promptWords('en'),
	servers: serverWords('en'),
	secondFactor: secondFactorWords('en'),
	settings: settingsWords('en'),
	usage: usageWords('en'),
	tokens: tokensWords('en')
};
const german = {
	...de,
	inspector: inspectorWords('de'),
	memory: memoryWords('de'),
	moderation: moderationWords('de'),
	prompts: promptWords('de'),
	servers: serverWords('de'),
	secondFactor: secondFactorWords('de'),
	settings: settingsWords('de'),
	usage: usageWords('de'),
	tokens: tokensWords('de')
};

test('no sentence is empty, in any language', () => {
	for (const language of [english, german]) {
		for (const [place, words] of collectSentences(language)) expect(words, place).not.toBe('');
	}
});

test('no longer sentence is the same in German and English', () => {
	const inGerman = collectSentences(german);
	const same = [...collectSentences(english)].filter(
		([place, words]) => words.split(' ').length > 2 && inGerman.get(place) === words
	);
	expect(same).toEqual([]);
});

test.each([
	[['de-AT', 'en'], 'de'],
	[['fr', 'en-GB'], 'en'],
	[['fr'], 'en'],
	[[], 'en']
])('a browser with the languages %j gets %s', (tags, language) => {
	expect(pickLanguage(tags)).toBe(language);
});
