import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';

/** The direction of imports, top to bottom. Each row may use what stands below it. */
const rows = [
	['chat', 'inspector', 'palette', 'settings', 'shared', 'sidebar', 'tokens', 'way_in'],
	['state'],
	['gate'],
	['turn'],
	['markdown'],
	['ui'],
	['words'],
	['api']
];

/** Imports are written from the root of src (`$/chat/…`), so folders can be told apart. */
const fromTheRoot = { regex: '^\\.\\./', message: 'Import from another folder as $/folder/file.' };

const noneOf = (folders, message) => ({ regex: `^\\$/(${folders.join('|')})/`, message });

/** A folder may not reach up, nor, in the first row, sideways. */
const walls = rows.flatMap((row, i) =>
	row.map((folder) => {
		const above = rows.slice(0, i).flat();
		const beside = i === 0 ? row.filter((other) => other !== folder) : [];
		const patterns = [fromTheRoot];
		if (above.length > 0) patterns.push(noneOf(above, `${folder}/ may not reach up.`));
		if (beside.length > 0) patterns.push(noneOf(beside, `Screens do not know one another.`));
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
					fromTheRoot,
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
	...walls,
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
