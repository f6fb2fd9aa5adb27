import { expect, test } from 'vitest';
import { parseArguments } from '$/tools/callArguments';

test('arguments are formatted, and listed by name', () => {
	expect(parseArguments('{"to":"Ann","count":2,"more":{"a":[1]}}')).toEqual({
		program: null,
		json: '{\n  "to": "Ann",\n  "count": 2,\n  "more": {\n    "a": [\n      1\n    ]\n  }\n}',
		values: [
			{ name: 'to', text: 'Ann' },
			{ name: 'count', text: '2' },
			{ name: 'more', text: '{\n  "a": [\n    1\n  ]\n}' }
		]
	});
});

test('a program stands by itself', () => {
	expect(parseArguments('{"code":"print(1)\\nprint(2)"}')).toEqual({
		program: 'print(1)\nprint(2)',
		json: '',
		values: []
	});
	expect(parseArguments('{"code":7}').program).toBeNull();
});

test.each(['{"to": "An', '[1]', 'null', '"text"'])('%s is shown as it is', (text) => {
	expect(parseArguments(text)).toEqual({ program: null, json: text, values: null });
});
