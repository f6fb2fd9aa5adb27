import { expect, test } from 'vitest';
import {
	checkValues,
	firstValues,
	readFields,
	toContent,
	type FormField
} from '$/tools/formFields';
import { toolDetails } from '$/words/en/toolDetails';

const { problems } = toolDetails.form;

function fieldsOf(properties: Record<string, unknown>, required: string[] = []): FormField[] {
	const fields = readFields(JSON.stringify({ type: 'object', properties, required }));
	expect(fields).not.toBeNull();
	return fields ?? [];
}

const check = (schema: unknown, value: string | string[] | boolean, isRequired = true) =>
	checkValues(fieldsOf({ x: schema }, isRequired ? ['x'] : []), { x: value }, problems)['x'] ??
	null;

test('every kind of field is read, with its title and default', () => {
	const fields = fieldsOf(
		{
			name: { type: 'string', title: 'Name', description: 'Yours', default: 'Ada' },
			age: { type: 'integer', minimum: 0 },
			size: { enum: ['s', 'l'], enumNames: ['Small', 'Large'], default: 'l' },
			colour: { type: 'string', oneOf: [{ const: 'r', title: 'Red' }, { const: 'g' }] },
			tags: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, default: ['a', 'z'] },
			is_gift: { type: 'boolean', default: true }
		},
		['name']
	);

	expect(fields.map(({ kind }) => kind)).toEqual([
		'text',
		'number',
		'choice',
		'choice',
		'list',
		'switch'
	]);
	expect(fields[0]).toMatchObject({ label: 'Name', hint: 'Yours', isRequired: true });
	expect(fields[3]).toMatchObject({
		options: [
			{ value: 'r', label: 'Red' },
			{ value: 'g', label: 'g' }
		]
	});
	expect(firstValues(fields)).toEqual({
		name: 'Ada',
		age: '',
		size: 'l',
		colour: '',
		tags: ['a'],
		is_gift: true
	});
});

test.each([
	'not json',
	'[]',
	'{"properties":[]}',
	'{"properties":{"a":{"type":"object"}}}',
	'{"properties":{"a":{}}}',
	'{"properties":{"a":7}}',
	'{"properties":{"a":{"type":"array","items":{"type":"string"}}}}',
	JSON.stringify({
		properties: Object.fromEntries(
			Array.from({ length: 51 }, (_, i) => [`f${i}`, { type: 'string' }])
		)
	})
])('a form that cannot be shown is refused: %s', (schema) => {
	expect(readFields(schema)).toBeNull();
});

test('a form without fields is a plain question', () => {
	expect(readFields('{"type":"object"}')).toEqual([]);
});

test.each([
	[{ type: 'string' }, '  ', problems.missing],
	[{ type: 'string', minLength: 3 }, 'ab', problems.tooShort(3)],
	[{ type: 'string', maxLength: 2 }, '👩‍🚀abc', problems.tooLong(2)],
	[{ type: 'string', format: 'email' }, 'ada@', problems.email],
	[{ type: 'string', format: 'uri' }, 'example', problems.uri],
	[{ type: 'string', format: 'date' }, 'tomorrow', problems.date],
	[{ type: 'string', format: 'date-time' }, 'soon', problems.dateTime],
	[{ type: 'string', pattern: '^[A-Z]+$' }, 'abc', problems.pattern],
	[{ type: 'number' }, 'many', problems.notNumber],
	[{ type: 'integer' }, '1.5', problems.notInteger],
	[{ type: 'number', minimum: 2 }, '1', problems.atLeast(2)],
	[{ type: 'number', maximum: 2 }, '3', problems.atMost(2)],
	[{ type: 'string', enum: ['a'] }, '', problems.missingChoice]
])('%j does not take %j', (schema, value, problem) => {
	expect(check(schema, value)).toBe(problem);
});

test('too few and too many choices are told', () => {
	const list = { type: 'array', items: { enum: ['a', 'b', 'c'] }, minItems: 2, maxItems: 2 };

	expect(check(list, [])).toBe(problems.missingChoice);
	expect(check(list, ['a'])).toBe(problems.tooFew(2));
	expect(check(list, ['a', 'b', 'c'])).toBe(problems.tooMany(2));
	expect(check(list, ['a', 'b'])).toBeNull();
	expect(check(list, [], false)).toBeNull();
});

test('what is optional may stay empty', () => {
	for (const type of ['string', 'number', 'integer']) expect(check({ type }, '', false)).toBeNull();
	expect(check({ enum: ['a'] }, '', false)).toBeNull();
});

test('a pattern that could take forever is left to the tool', () => {
	expect(check({ type: 'string', pattern: '^(a+)+$' }, `${'a'.repeat(100)}!`)).toBeNull();
	expect(check({ type: 'string', pattern: '^a*a*a*a*$' }, `${'a'.repeat(100)}!`)).toBeNull();
	expect(check({ type: 'string', pattern: '(' }, 'a')).toBeNull();
});

test('the tool gets numbers as numbers, and nothing for what is empty', () => {
	const fields = fieldsOf(
		{
			name: { type: 'string' },
			count: { type: 'integer' },
			share: { type: 'number' },
			size: { enum: ['s'] },
			tags: { type: 'array', items: { enum: ['a'] } },
			is_gift: { type: 'boolean' },
			at: { type: 'string', format: 'date-time' }
		},
		['name']
	);
	const values = {
		name: 'Ada',
		count: '3',
		share: '',
		size: '',
		tags: [],
		is_gift: false,
		at: '2026-03-14T09:30'
	};

	expect(toContent(fields, values)).toEqual({
		name: 'Ada',
		count: 3,
		is_gift: false,
		at: new Date('2026-03-14T09:30').toISOString()
	});
});
