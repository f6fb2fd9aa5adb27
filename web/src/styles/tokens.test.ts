import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const css = readFileSync('src/styles/tokens.css', 'utf8');
const PAIR = /--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g;
const tokens = new Map(
	[...css.matchAll(PAIR)].map(([, name, light, dark]) => [name, [light, dark]])
);

const PAPERS = ['paper', 'paper-sunk', 'paper-raised'];
const CODE = ['comment', 'keyword', 'string', 'number', 'name', 'type'].map(
	(kind) => `code-${kind}`
);

/** Foreground, background, and the least contrast ratio (WCAG 2.2 AA). */
const PAIRS: [string, string, number][] = [
	...PAPERS.flatMap((paper): [string, string, number][] => [
		['ink', paper, 7],
		['ink-quiet', paper, 4.5],
		['ink-faint', paper, 4.5],
		['accent', paper, 4.5],
		['accent-strong', paper, 4.5],
		['danger', paper, 4.5],
		['warn', paper, 4.5],
		['line-strong', paper, 3]
	]),
	...['muted', 'tint', 'warn-tint', 'danger-tint', 'highlight'].map(
		(ground): [string, string, number] => ['ink', ground, 7]
	),
	...['muted', 'tint', 'warn-tint', 'danger-tint'].map((ground): [string, string, number] => [
		'ink-quiet',
		ground,
		4.5
	]),
	['accent', 'muted', 4.5],
	['accent', 'tint', 4.5],
	['warn', 'warn-tint', 4.5],
	['danger', 'danger-tint', 4.5],
	['danger', 'muted', 4.5],
	['on-accent', 'accent', 4.5],
	['on-accent', 'accent-strong', 4.5],
	...CODE.map((colour): [string, string, number] => [colour, 'paper-sunk', 4.5])
];

function computeLuminance(colour: string): number {
	const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
		const part = parseInt(colour.slice(at, at + 2), 16) / 255;
		return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function computeContrast(name: string, ground: string, theme: 0 | 1): number {
	const [low = 0, high = 0] = [name, ground]
		.map((one) => computeLuminance(tokens.get(one)?.[theme] ?? `no token --${one}`))
		.sort((a, b) => a - b);
	return (high + 0.05) / (low + 0.05);
}

describe.each([
	['light', 0],
	['dark', 1]
] as const)('In the %s theme', (_, theme) => {
	it.each(PAIRS)('--%s has enough contrast on --%s (at least %s to 1)', (name, ground, ratio) => {
		expect(computeContrast(name, ground, theme)).toBeGreaterThanOrEqual(ratio);
	});
});
