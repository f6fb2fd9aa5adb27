import { readdirSync } from 'node:fs';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

/** Imports point down: a folder may import the rows below its own, never its own row. */
const rows = [
	[
		'chat',
		'inspector',
		'palette',
		'settings',
		'share_page',
		'sidebar',
		'sign_in',
		'styles_page',
		'tokens'
	],
	['attachments', 'memory', 'moderation', 'prompts', 'tools'],
	['state'],
	['proof_of_work'],
	['turn'],
	['markdown'],
	['ui'],
	['words'],
	['api', 'offline', 'safety', 'styles']
];

const src = new URL('./src/', import.meta.url);
const folders = readdirSync(src, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const unruled = folders.map(({ name }) => name).filter((name) => !rows.flat().includes(name));
if (unruled.length > 0) throw new Error(`Give ${unruled.join(', ')} a row in eslint.config.js.`);

/** Imports are written from the root of src (`$/chat/…`), so the rules below can match a folder. */
const fromSrc = { regex: '^\\.\\./', message: 'Import from another folder as $/folder/file.' };
const notTheRoot = { regex: '^\\$/[^/]+$', message: 'Only the root imports the root of src.' };

const directions = rows.flatMap((row, i) =>
	row.map((folder) => {
		const forbidden = rows
			.slice(0, i + 1)
			.flat()
			.filter((other) => other !== folder);
		const notAbove = {
			regex: `^\\$/(${forbidden.join('|')})/`,
			message: `${folder}/ may only import the rows below its own.`
		};
		const patterns = [fromSrc, notTheRoot, ...(forbidden.length > 0 ? [notAbove] : [])];
		return {
			files: [`src/${folder}/**`],
			rules: { 'no-restricted-imports': ['error', { patterns }] }
		};
	})
);

const plainTypeScript = {
	files: ['src/api/**', 'src/turn/apply.ts', 'src/turn/delta.ts'],
	ignores: ['**/*.test.ts'],
	rules: {
		'no-restricted-imports': [
			'error',
			{
				patterns: [
					fromSrc,
					{
						regex: '^svelte|\\.svelte$|^\\$/(?!api/)',
						message: 'Plain TypeScript: no Svelte, and nothing of ours but api/.'
					}
				]
			}
		]
	}
};

export default ts.config(
	...ts.configs.strict,
	...svelte.configs.recommended,
	{
		files: ['**/*.svelte', '**/*.svelte.ts'],
		languageOptions: { parserOptions: { parser: ts.parser } }
	},
	...directions,
	plainTypeScript,
	{
		rules: {
			'no-console': 'error',
			'svelte/no-at-html-tags': 'error',
			'svelte/require-each-key': 'error',
			// Maps and sets here are values: replaced whole, never changed.
			'svelte/prefer-svelte-reactivity': 'off'
		}
	}
);
