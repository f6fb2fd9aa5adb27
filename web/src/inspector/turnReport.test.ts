import { expect, test } from 'vitest';
import { buildTurnReport } from '$/inspector/turnReport';
import { readExpected, readLog, names } from '$/turn/recordedTurns';
import { inspectorWords } from '$/words/inspector';

test('prompt tokens are counted by source', () => {
	const { prompt, sources } = buildTurnReport(readLog('hello'), inspectorWords('en'));
	const sum = sources.reduce((total, { numTokens }) => total + numTokens, 0);

	expect(sources.map(({ source }) => source)).toEqual(['template', 'system', 'user']);
	expect(sum).toBe(prompt?.num_tokens);
});

test.each(names)('the steps of %s are in order of time', (name) => {
	const { steps } = buildTurnReport(readLog(name), inspectorWords('en'));
	const times = steps.map(({ atMs }) => atMs);

	expect(steps.length).toBeGreaterThan(3);
	expect(times).toEqual(times.toSorted((a, b) => a - b));
	expect(steps.filter(({ title }) => title === 'First words').length).toBeLessThan(3);
});

test('the usage of a failed answer is reported', () => {
	expect(buildTurnReport(readLog('failed'), inspectorWords('en')).usage?.num_cached_tokens).toBe(
		readExpected('failed').transcript.messages.at(-1)?.usage?.num_cached_tokens
	);
});

test('the tokens of the answer spell the answer', () => {
	const { tokens } = buildTurnReport(readLog('hello'), inspectorWords('en'));
	const answer = readExpected('hello').messages.at(-1)?.content.parts[0];

	expect(tokens.map(([, text]) => text).join('')).toBe(answer);
});

test('the uncertainty of an answer is described if known', () => {
	const { steps, usage } = buildTurnReport(readLog('searched'), inspectorWords('en'));
	const finished = steps.find(({ title }) => title === 'Answer finished');

	expect(usage).toMatchObject({ entropy: 1.25, surprisal: 0.4, is_truncated: true });
	expect(finished?.detail).toBe(
		'at the longest length, 3 tokens, 100 per second, 17 evaluated in search of them, ' +
			'entropy at least 1.3 bits, surprisal 0.4 bits'
	);
	expect(
		buildTurnReport(readLog('hello'), inspectorWords('en')).steps.map(({ detail }) => detail)
	).not.toContain('bits');
});

test('the steps are described in the language of the page', () => {
	expect(buildTurnReport(readLog('hello'), inspectorWords('de')).steps[0]?.title).toBe(
		'Runde begonnen'
	);
});
