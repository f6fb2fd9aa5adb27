import { expect, test } from 'vitest';
import type { ToolResult } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import type { ToolUse } from '$/state/answerParts';
import { describeUse } from '$/tools/describeUse';
import { en } from '$/words/en';

function useOf(
	tool: string,
	output: string,
	result: Partial<ToolResult> = {},
	status: Message['status'] = 'finished_successfully'
): ToolUse {
	return {
		call: { kind: 'tool_call', call_id: 'c1', tool, arguments: '{}', is_hosted: true },
		message: {
			id: 'm1',
			author: { role: 'tool' },
			create_time: null,
			content: { content_type: 'text', parts: [output] },
			status,
			metadata: {
				tool_result: {
					kind: 'tool_result',
					call_id: 'c1',
					output: '',
					failed: false,
					tool,
					...result
				}
			}
		}
	};
}

test('a call that is done says what came of it', () => {
	expect(describeUse(useOf('calculate', '6*7 = 42'), false, false, en)).toEqual({
		label: 'Calculated',
		summary: '6*7 = 42',
		tone: 'done'
	});
});

test('a tool that the page does not know is named, with its server', () => {
	const use = useOf('find_issue', '\n  One issue.\nMore of it.', { server: 'Tracker' });

	expect(describeUse(use, false, false, en)).toMatchObject({
		label: 'Used “Find issue” on Tracker',
		summary: 'One issue.'
	});
});

test('sources count more than the first line', () => {
	const sources = [{ title: 'Rain', url: 'https://rain.example.org' }];

	expect(describeUse(useOf('read', 'Long text', { sources }), false, false, en).summary).toBe(
		'1 source'
	);
});

test('a tool that runs shows the last line of what it reported', () => {
	const use = useOf('run_python', '', { progress: 'one\ntwo\n' }, 'in_progress');

	expect(describeUse(use, true, false, en)).toEqual({
		label: 'Running Python…',
		summary: 'two',
		tone: 'busy'
	});
});

test('a failure says why', () => {
	const use = useOf('get_weather', 'Nobody knows that place.', { failed: true });

	expect(describeUse(use, false, false, en)).toEqual({
		label: '“Get weather” did not work',
		summary: 'Nobody knows that place.',
		tone: 'problem'
	});
});

test('a call that nobody can decide any more was not run', () => {
	const use = useOf('post_letter', '', {
		approval: { reason: 'writes', decision: 'expired', word: '' }
	});

	expect(describeUse(use, false, true, en).label).toBe('Waiting for you: “Post letter”');
	expect(describeUse(use, false, false, en).label).toBe(
		'“Post letter” was not run: you did not decide'
	);
});

test('a long line is cut', () => {
	expect(describeUse(useOf('read', 'x'.repeat(5_000)), false, false, en).summary).toHaveLength(160);
});

test.each([
	['| city | rain |\n|---|---|\n| Oslo | 3 |\n| Rome | 0 |', '2 rows: city, rain'],
	['[{"city": "Oslo", "rain": 3}]', '1 row: city, rain'],
	['{\n  "city": "Oslo",\n  "hours": [1, 2]\n}', 'city: Oslo, hours: …'],
	['["Oslo", "Rome"]', 'Oslo, Rome'],
	['# Weather\nIt rains.', 'Weather'],
	['```\nIt rains.\n```', 'It rains.'],
	['[1] A page, and not JSON', '[1] A page, and not JSON']
])('the result %j is told in a line that can be read', (output, summary) => {
	expect(describeUse(useOf('find', output), false, false, en).summary).toBe(summary);
});
