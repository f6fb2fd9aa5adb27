import { expect, test } from 'vitest';
import { splitResult } from '$/tools/resultParts';

test('plain text is text', () => {
	expect(splitResult('a | b\nc')).toEqual([{ kind: 'text', text: 'a | b\nc' }]);
	expect(splitResult('')).toEqual([]);
});

test('a table in Markdown is a table between texts', () => {
	const output = 'Rain:\n\n| day | mm |\n|:---|---:|\n| Monday | 3 |\n| a \\| b |\n\nThat is all.';

	expect(splitResult(output)).toEqual([
		{ kind: 'text', text: 'Rain:\n' },
		{
			kind: 'table',
			head: ['day', 'mm'],
			rows: [
				['Monday', '3'],
				['a | b', '']
			]
		},
		{ kind: 'text', text: '\nThat is all.' }
	]);
});

test('a list of flat objects is a table', () => {
	expect(splitResult('[{"a":1,"b":"x"},{"a":null,"c":true}]')).toEqual([
		{
			kind: 'table',
			head: ['a', 'b', 'c'],
			rows: [
				['1', 'x', ''],
				['', '', 'true']
			]
		}
	]);
});

test.each(['[1, 2]', '[{"a":{"b":1}}]', '[]', '[{}]', '[not json'])('%s is no table', (output) => {
	expect(splitResult(output)).toEqual([{ kind: 'text', text: output }]);
});

test('a very long result stays text', () => {
	const output = `[${Array.from({ length: 20_000 }, () => '{"a":1}').join(',')}]`;

	expect(splitResult(output)).toEqual([{ kind: 'text', text: output }]);
});
