import { expect, test } from 'vitest';
import type { Prompt, Slot } from '$/prompts/calls';
import { insertionFor, lineIn, spanOf, versionsOf } from '$/prompts/template';

const slot = (kind: Slot['kind'], is_required = true): Slot => ({
	name: 'it',
	kind,
	is_required,
	about: ''
});

test('the newest version comes first, and what comes with hitsend last', () => {
	const own = (version: number) => ({
		version,
		template: `own ${version}`,
		note: '',
		created_by: 'ada',
		created_at: 1
	});
	const prompt = {
		versions: [own(1002), own(1001)],
		shipped: { version: 3, template: 'shipped' }
	} as Prompt;
	const found = versionsOf(prompt);
	expect(found.map(({ version }) => version)).toEqual([1002, 1001, 3]);
	expect(found[0]?.written?.created_by).toBe('ada');
	expect(found[2]).toEqual({ version: 3, template: 'shipped', written: null });
});

test.each([
	[slot('text'), '{{ it }}'],
	[slot('data'), '{{ it }}'],
	[slot('text', false), '{% if it %}\n{{ it }}\n{% endif %}'],
	[slot('list'), '{% for one in it %}\n{{ one }}\n{% endfor %}'],
	[slot('flag'), '{% if it %}\n\n{% endif %}']
])('a slot is put in as what its kind needs: %j', (slot, expected) => {
	expect(insertionFor(slot)).toBe(expected);
});

test('the line that is to blame is found, where one is', () => {
	expect(lineIn('Line 12: there is no slot `x`.')).toBe(12);
	expect(lineIn('The template never shows `x`.')).toBeNull();
});

test('a line is where it stands in the text, and the end where there is none', () => {
	const text = 'one\n\nthree';
	const at = (line: number) => text.slice(...spanOf(text, line));
	expect([at(1), at(2), at(3), at(9)]).toEqual(['one', '', 'three', '']);
	expect(spanOf(text, 9)).toEqual([10, 10]);
});
