import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '..');
const styled = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((path) =>
	/\.(svelte|css)$/.test(path)
);
const PHYSICAL =
	/(?<![\w-])(?:(?:margin|padding|border)-(?:left|right)\b|(?:left|right)\s*:|(?:text-align|float|clear)\s*:\s*(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius)/g;

function readRules(path: string): string {
	const source = readFileSync(join(SRC, path), 'utf8');
	const css = path.endsWith('.css') ? source : (/<style>([^]*)<\/style>/.exec(source)?.[1] ?? '');
	return css.replaceAll(/\/\*[^]*?\*\//g, '');
}

test.each(styled)('%s uses start and end instead of left and right', (path) => {
	expect(readRules(path).match(PHYSICAL) ?? []).toEqual([]);
});
