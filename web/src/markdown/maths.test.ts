// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Blocks, type Block } from '$/markdown/blocks';

const read = (text: string): Block[] => new Blocks().read(text, true);
const readText = (text: string): string => {
	const [block] = read(text);
	return block?.kind === 'text' ? block.html : '';
};

test.each(['$x^2$', '\\(x^2\\)'])('%s is an inline formula', (text) => {
	expect(readText(`So ${text} is.`)).toBe('So <span class="maths">x^2</span> is.');
});

test.each(['$$\nx^2\n$$', '$$x^2$$', '\\[\nx^2\n\\]', '\\[x^2\\]'])(
	'%j is a display formula',
	(text) => {
		expect(read(`So\n\n${text}\n\nis.`)[1]).toMatchObject({ kind: 'maths', tex: 'x^2' });
	}
);

test.each([
	'It costs $5 and $10.',
	'Between $5-$10 a month',
	'A $ alone',
	'`$x$` is code',
	'echo $HOME and $PATH',
	'$ x $'
])('%j is not a formula', (text) => {
	expect(readText(text)).not.toContain('maths');
});

test('asterisks and underscores in a formula are not emphasis', () => {
	expect(readText('$a_1 * b_1 * c_{2}$')).toBe('<span class="maths">a_1 * b_1 * c_{2}</span>');
});
