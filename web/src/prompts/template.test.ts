import { expect, test } from 'vitest';
import type { Prompt, Slot } from '$/api/wire';
import { buildSlotMarkup, parseErrorLine, findLineSpan, listVersions } from '$/prompts/template';

const slot = (kind: Slot['kind'], is_required = true): Slot => ({
	name: 'it',
	kind,
	is_required,
	about: '',
	label: '',
	sample: ''
});

test('the newest version comes first, and the shipped one last', () => {
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
	const found = listVersions(prompt);
	expect(found.map(({ version }) => version)).toEqual([1002, 1001, 3]);
	expect(found[0]?.saved?.created_by).toBe('ada');
	expect(found[2]).toEqual({ version: 3, template: 'shipped', saved: null });
});

test.each([
	[slot('text'), '{{ it }}'],
	[slot('data'), '{{ it }}'],
	[slot('text', false), '{% if it %}\n{{ it }}\n{% endif %}'],
	[slot('list'), '{% for one in it %}\n{{ one }}\n{% endfor %}'],
	[slot('flag'), '{% if it %}\n\n{% endif %}']
])('the markup of a slot depends on its kind: %j', (slot, expected) => {
	expect(buildSlotMarkup(slot)).toBe(expected);
});

test('the line number is read from an error message that has one', () => {
	expect(parseErrorLine('Line 12: there is no slot `x`.')).toBe(12);
	expect(parseErrorLine('The template never shows `x`.')).toBeNull();
});

test('the span of a missing line is the end of the text', () => {
	const text = 'one\n\nthree';
	const at = (line: number) => text.slice(...findLineSpan(text, line));
	expect([at(1), at(2), at(3), at(9)]).toEqual(['one', '', 'three', '']);
	expect(findLineSpan(text, 9)).toEqual([10, 10]);
});
