/** The fields of a tool's form, from its JSON Schema, and what is wrong with their values. Pure values. */
import type { FormContent } from '$/api/wire';
import type { ToolWords } from '$/words/toolDetails';

interface Common {
	name: string;
	label: string;
	hint: string;
	isRequired: boolean;
}

export interface TextField extends Common {
	kind: 'text';
	format: 'email' | 'uri' | 'date' | 'date-time' | null;
	minLength: number;
	maxLength: number;
	pattern: string | null;
	first: string;
}

export interface NumberField extends Common {
	kind: 'number';
	isInteger: boolean;
	minimum: number;
	maximum: number;
	first: string;
}

export interface SwitchField extends Common {
	kind: 'switch';
	first: boolean;
}

export interface Option {
	value: string;
	label: string;
}

export interface ChoiceField extends Common {
	kind: 'choice';
	options: Option[];
	first: string;
}

export interface ListField extends Common {
	kind: 'list';
	options: Option[];
	minItems: number;
	maxItems: number;
	first: string[];
}

export type FormField = TextField | NumberField | SwitchField | ChoiceField | ListField;
/** What the person has entered: text of inputs, switches, and chosen options. */
export type FormValues = Record<string, string | boolean | string[]>;
export type FormProblems = Record<string, string>;

type Schema = Record<string, unknown>;

const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;
const MAX_FIELDS = 50;
const MAX_TEXT_CHARS = 10_000;

/** Null if the form has anything but plain fields. */
export function readFields(schema: string): FormField[] | null {
	const root = parse(schema);
	const properties = asObject(root?.['properties'] ?? {});
	if (root === null || properties === null) return null;
	const names = Object.keys(properties);
	if (names.length > MAX_FIELDS) return null;
	const required = asStrings(root['required']) ?? [];
	const fields = names.map((name) =>
		readField(name, asObject(properties[name]), required.includes(name))
	);
	return fields.every((field) => field !== null) ? fields : null;
}

export function firstValues(fields: FormField[]): FormValues {
	return Object.fromEntries(fields.map((field) => [field.name, field.first]));
}

/** What is wrong, by field. */
export function checkValues(
	fields: FormField[],
	values: FormValues,
	t: ToolWords['form']['problems']
): FormProblems {
	const found = fields.flatMap((field) => {
		const problem = checkValue(field, values[field.name], t);
		return problem === null ? [] : [[field.name, problem]];
	});
	return Object.fromEntries(found) as FormProblems;
}

/** What the tool gets. Optional fields that are empty are left out. */
export function toContent(fields: FormField[], values: FormValues): FormContent {
	const content: FormContent = {};
	for (const field of fields) {
		const value = values[field.name];
		if (value === undefined) continue;
		if (typeof value !== 'string') {
			if (field.isRequired || value === true || (Array.isArray(value) && value.length > 0)) {
				content[field.name] = value;
			} else if (field.kind === 'switch') {
				content[field.name] = value;
			}
		} else if (field.kind === 'number') {
			if (value.trim() !== '') content[field.name] = Number(value);
		} else if (value !== '' || field.isRequired) {
			content[field.name] = toWireText(field, value);
		}
	}
	return content;
}

/** A date and a time of the person's clock becomes a moment. */
function toWireText(field: FormField, value: string): string {
	const isMoment = field.kind === 'text' && field.format === 'date-time' && value !== '';
	return isMoment ? new Date(value).toISOString() : value;
}

function readField(name: string, schema: Schema | null, isRequired: boolean): FormField | null {
	if (schema === null) return null;
	const label = asText(schema['title']) || name;
	const common = { name, label, hint: asText(schema['description']), isRequired };
	const first = schema['default'];
	const options = readOptions(schema);
	switch (schema['type']) {
		case 'boolean':
			return { ...common, kind: 'switch', first: first === true };
		case 'number':
		case 'integer':
			return {
				...common,
				kind: 'number',
				isInteger: schema['type'] === 'integer',
				minimum: asNumber(schema['minimum'], -Infinity),
				maximum: asNumber(schema['maximum'], Infinity),
				first: typeof first === 'number' ? String(first) : ''
			};
		case 'array': {
			const items = asObject(schema['items']);
			const choices = items === null ? null : readOptions(items);
			if (choices === null) return null;
			return {
				...common,
				kind: 'list',
				options: choices,
				minItems: asNumber(schema['minItems'], isRequired ? 1 : 0),
				maxItems: asNumber(schema['maxItems'], Infinity),
				first: (asStrings(first) ?? []).filter((one) => has(choices, one))
			};
		}
		case 'string':
		case undefined:
			if (options !== null) {
				const chosen = asText(first);
				return { ...common, kind: 'choice', options, first: has(options, chosen) ? chosen : '' };
			}
			if (schema['type'] === undefined) return null;
			return {
				...common,
				kind: 'text',
				format: FORMATS.find((format) => format === schema['format']) ?? null,
				minLength: asNumber(schema['minLength'], 0),
				maxLength: Math.min(asNumber(schema['maxLength'], MAX_TEXT_CHARS), MAX_TEXT_CHARS),
				pattern: asText(schema['pattern']) || null,
				first: asText(first)
			};
		default:
			return null;
	}
}

/** The values of an enum, with their titles in either of the two ways that MCP has. */
function readOptions(schema: Schema): Option[] | null {
	const titled = [schema['oneOf'], schema['anyOf']].find(Array.isArray) as unknown[] | undefined;
	if (titled !== undefined) {
		const options = titled.map((one) => {
			const value = asObject(one)?.['const'];
			if (typeof value !== 'string') return null;
			return { value, label: asText(asObject(one)?.['title']) || value };
		});
		return options.every((one) => one !== null) ? options : null;
	}
	const values = asStrings(schema['enum']);
	const names = asStrings(schema['enumNames']) ?? [];
	return values?.map((value, i) => ({ value, label: names[i] || value })) ?? null;
}

function checkValue(
	field: FormField,
	value: FormValues[string] | undefined,
	t: ToolWords['form']['problems']
): string | null {
	switch (field.kind) {
		case 'switch':
			return null;
		case 'choice':
			return field.isRequired && (value ?? '') === '' ? t.missingChoice : null;
		case 'list': {
			const num = Array.isArray(value) ? value.length : 0;
			if (num === 0 && !field.isRequired) return null;
			if (num < field.minItems) return num === 0 ? t.missingChoice : t.tooFew(field.minItems);
			return num > field.maxItems ? t.tooMany(field.maxItems) : null;
		}
		case 'number':
			return checkNumber(field, String(value ?? '').trim(), t);
		case 'text':
			return checkText(field, String(value ?? ''), t);
		default:
			return field satisfies never;
	}
}

function checkNumber(
	{ isRequired, isInteger, minimum, maximum }: NumberField,
	text: string,
	t: ToolWords['form']['problems']
): string | null {
	if (text === '') return isRequired ? t.missing : null;
	const value = Number(text);
	if (!Number.isFinite(value)) return t.notNumber;
	if (isInteger && !Number.isSafeInteger(value)) return t.notInteger;
	if (value < minimum) return t.atLeast(minimum);
	return value > maximum ? t.atMost(maximum) : null;
}

function checkText(
	{ isRequired, minLength, maxLength, format, pattern }: TextField,
	text: string,
	t: ToolWords['form']['problems']
): string | null {
	if (text.trim() === '') return isRequired ? t.missing : null;
	const length = [...text].length;
	if (length < minLength) return t.tooShort(minLength);
	if (length > maxLength) return t.tooLong(maxLength);
	if (format === 'email' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) return t.email;
	if (format === 'uri' && !URL.canParse(text)) return t.uri;
	if (format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(text)) return t.date;
	if (format === 'date-time' && Number.isNaN(Date.parse(text))) return t.dateTime;
	return pattern !== null && !matches(text, pattern) ? t.pattern : null;
}

/** A pattern could hold up the page: only simple ones of short texts are checked. The tool checks all. */
function matches(text: string, pattern: string): boolean {
	const isNested = /\)[*+?{]/.test(pattern);
	const numRepeats = pattern.match(/[*+{]/g)?.length ?? 0;
	if (isNested || numRepeats > 3 || pattern.length > 100 || text.length > 200) return true;
	try {
		return new RegExp(pattern, 'u').test(text);
	} catch {
		return true;
	}
}

function parse(text: string): Schema | null {
	try {
		return asObject(JSON.parse(text));
	} catch {
		return null;
	}
}

function asObject(value: unknown): Schema | null {
	const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
	return isObject ? (value as Schema) : null;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
const asNumber = (value: unknown, otherwise: number): number =>
	typeof value === 'number' ? value : otherwise;
const asStrings = (value: unknown): string[] | null =>
	Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : null;
const has = (options: Option[], value: string): boolean =>
	options.some((option) => option.value === value);
