// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Blocks, type Block } from '$/markdown/blocks';

const read = (text: string): Block[] => new Blocks().read(text, true);
const words = (text: string): string => {
	const [block] = read(text);
	return block?.kind === 'text' ? block.html : '';
};

test.each(['$x^2$', '\\(x^2\\)'])('%s stands in a line', (text) => {
	expect(words(`So ${text} is.`)).toBe('So <span class="maths">x^2</span> is.');
});

test.each(['$$\nx^2\n$$', '$$x^2$$', '\\[\nx^2\n\\]', '\\[x^2\\]'])('%j stands alone', (text) => {
	expect(read(`So\n\n${text}\n\nis.`)[1]).toEqual({ kind: 'maths', tex: 'x^2' });
});

test.each([
	'It costs $5 and $10.',
	'Between $5-$10 a month',
	'A $ alone',
	'`$x$` is code',
	'echo $HOME and $PATH',
	'$ x $'
])('%j is no formula', (text) => {
	expect(words(text)).not.toContain('maths');
});

test('stars and underscores in a formula are not emphasis', () => {
	expect(words('$a_1 * b_1 * c_{2}$')).toBe('<span class="maths">a_1 * b_1 * c_{2}</span>');
});
