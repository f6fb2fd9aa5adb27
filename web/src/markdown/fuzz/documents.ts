/** Generates Markdown that is deep, long or broken. The same seed and number give the same document. */

type Random = () => number;

const NESTED: [string, string][] = [
	['> ', ''],
	['>', ''],
	['- ', ''],
	['1. ', ''],
	['> - ', ''],
	['**a ', ' b**'],
	['*a ', ' b*'],
	['**a *b ', ' c* d**'],
	['__a ', ' b__'],
	['~~a ', ' b~~'],
	['[', '](https://example.org)'],
	['![', '](https://example.org)'],
	['[', ']'],
	['(', ')'],
	['<b>', '</b>'],
	['<sub><i>', '</i></sub>'],
	['<div>', '</div>'],
	['`', '`'],
	['```\n', '\n```'],
	['| a ', '|']
];
const NESTED_TEX: [string, string][] = [
	['\\frac{1}{', '}'],
	['\\frac1', ''],
	['\\sqrt{', '}'],
	['\\left(', '\\right)'],
	['x^{', '}'],
	['x_{', '}'],
	['{', '}'],
	['\\hat{', '}^2'],
	['\\overbrace{', '}^{2}'],
	['\\begin{matrix}1&', '\\end{matrix}'],
	['\\text{$', '$}'],
	['\\mathchoice{', '}{}{}{}'],
	['\\binom{', '}{2}'],
	['\\color{red}{', '}']
];
const FORMULAS: [string, string][] = [
	['$', '$'],
	['$$', '$$'],
	['\\(', '\\)'],
	['\\[', '\\]'],
	['$$\n', '\n$$']
];
const MARKS = [
	...[
		'*',
		'**',
		'_',
		'__',
		'~~',
		'`',
		'```',
		'~~~',
		'[',
		']',
		'](',
		')',
		'![',
		'!',
		'<',
		'>',
		'<b>'
	],
	...[
		'</b>',
		'<br>',
		'<!--',
		'-->',
		'&amp;',
		'&',
		'$',
		'$$',
		'\\(',
		'\\)',
		'\\[',
		'\\]',
		'\\',
		'|'
	],
	...[
		'|-|',
		'# ',
		'- ',
		'+ ',
		'1. ',
		'- [x] ',
		'> ',
		'---',
		'===',
		'    ',
		'\t',
		' ',
		'  \n',
		'\n'
	],
	...[
		'\n\n',
		'\r\n',
		'a',
		'word',
		'snake_case',
		'0',
		'https://example.org/a_b',
		'www.a.org',
		'a@b.org'
	],
	...[
		'[a]: b',
		'[^1]',
		'{',
		'}',
		'\\frac',
		'\\def\\a{\\a\\a}\\a',
		'😀',
		'שלום',
		'\u200b',
		'\0',
		'\ud800'
	]
];
const PREFIXES = [
	'',
	'',
	'> ',
	'- ',
	'  - ',
	'    - ',
	'1. ',
	'   ',
	'\t',
	'> > ',
	'# ',
	'| ',
	'```',
	'$$'
];

export function createDocument(seed: number, number: number): string {
	const random = createRandom(seed * 1_000_003 + number);
	const kind = pick(random, [nest, nest, mix, mix, mix, writeLines, writeLines, nestTex, damage]);
	if (number % 2_000 === 999) return grow(random, 200_000);
	return number % 100 === 99 ? grow(random, 5_000) : kind(random);
}

function nest(random: Random): string {
	const pairs = times(1 + below(random, 2), () => pick(random, NESTED));
	return wrap(random, pairs, 'word');
}

function nestTex(random: Random): string {
	const pairs = times(1 + below(random, 2), () => pick(random, NESTED_TEX));
	const [open, close] = pick(random, FORMULAS);
	return `${open}${wrap(random, pairs, 'x')}${close}`;
}

/** Leaves out some of the closing marks now and then. */
function wrap(random: Random, pairs: [string, string][], inner: string): string {
	const depth = pick(random, [2, 2, 4, 4, 4, 8, 8, 8, 16, 16, 16, 40, 40, 150, 400]);
	const chosen = times(depth, (i) => pairs[i % pairs.length] ?? ['', '']);
	const numClosed = random() < 0.7 ? depth : below(random, depth);
	const opening = chosen.map(([open]) => open).join('');
	const closing = chosen.map(([, close]) => close).reverse();
	return `${opening}${inner}${closing.slice(0, numClosed).join('')}`;
}

function mix(random: Random): string {
	return times(1 + below(random, 40), () => pick(random, MARKS)).join('');
}

function writeLines(random: Random): string {
	return times(1 + below(random, 12), () => {
		const prefixes = times(below(random, 4), () => pick(random, PREFIXES)).join('');
		return `${prefixes}${times(below(random, 5), () => pick(random, MARKS)).join('')}`;
	}).join('\n');
}

/** Cuts pieces out of another document, and repeats others. */
function damage(random: Random): string {
	let text = pick(random, [nest, mix, writeLines, nestTex])(random);
	for (let i = below(random, 4); i >= 0; i--) {
		const [from, to] = [below(random, text.length + 1), below(random, text.length + 1)];
		text = text.slice(0, from) + text.slice(to).slice(0, 3_000);
	}
	return text;
}

function grow(random: Random, length: number): string {
	const piece = pick(random, [nest, mix, writeLines, nestTex, damage])(random) || 'a';
	const separator = pick(random, ['', ' ', '\n', '\n\n']);
	const short = piece.slice(0, pick(random, [3, 10, 100, 1_000]));
	return (short + separator).repeat(Math.ceil(length / (short.length + separator.length)));
}

/** Mulberry32: small, and good enough here. */
function createRandom(seed: number): Random {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

function below(random: Random, limit: number): number {
	return Math.floor(random() * limit);
}

function pick<T>(random: Random, values: T[]): T {
	return values[below(random, values.length)] as T;
}

function times<T>(count: number, create: (index: number) => T): T[] {
	return Array.from({ length: count }, (_, i) => create(i));
}
