// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Sampling } from '$/api/events.gen';
import { buildSampling, getDefaultValue, toFieldTexts } from '$/prompts/decoding';
import { settingsWords } from '$/words/settings';

const t = settingsWords('en').chat;
const UNSET: Sampling = {
	temperature: null,
	top_p: null,
	top_k: null,
	min_p: null,
	presence_penalty: null,
	frequency_penalty: null,
	repeat_penalty: null,
	seed: null,
	max_tokens: null,
	stop: null,
	logit_bias: null,
	top_logprobs: null,
	json_schema: null,
	policy: null,
	num_beams: null
};

test('set values fill their fields, and the others are empty', () => {
	expect(toFieldTexts({ ...UNSET, temperature: 0, max_tokens: 24 })).toMatchObject({
		temperature: '0',
		max_tokens: '24',
		top_p: '',
		num_beams: ''
	});
	expect(toFieldTexts({ ...UNSET, policy: 'beam', num_beams: 3 }).num_beams).toBe('3');
	expect(Object.values(toFieldTexts(null)).every((text) => text === '')).toBe(true);
});

test('an empty form keeps the shipped values', () => {
	expect(buildSampling(toFieldTexts(UNSET), 'sample', UNSET, t)).toBeNull();
});

test('only the parameters of the policy are sent, and settings made elsewhere stay', () => {
	const others = {
		stop: [],
		repeat_penalty: 1.1,
		json_schema: '{"type":"object"}',
		logit_bias: [[5, -100]] as [number, number][]
	};
	const before = { ...UNSET, ...others };
	const typed = { ...toFieldTexts(before), temperature: '0,2', max_tokens: '40' };
	expect(buildSampling(typed, 'sample', before, t)).toEqual({
		...others,
		policy: 'sample',
		temperature: 0.2,
		max_tokens: 40
	});
	expect(buildSampling(typed, 'greedy', null, t)).toEqual({ policy: 'greedy', max_tokens: 40 });
});

test('settings that beam search does not support are left out', () => {
	const others = { presence_penalty: 1, frequency_penalty: 1, repeat_penalty: 1.1 };
	const bound = { json_schema: '{}', logit_bias: [[5, 2]] as [number, number][] };
	const before = { ...UNSET, ...others, ...bound, stop: ['x'], top_logprobs: 2 };
	expect(buildSampling(toFieldTexts(before), 'beam', before, t)).toEqual({
		policy: 'beam',
		stop: ['x'],
		top_logprobs: 2
	});
});

test('a shipped value applies under every policy it is valid for', () => {
	const shipped = { ...UNSET, temperature: 0, max_tokens: 24 };
	for (const policy of ['sample', 'greedy', 'beam'] as const)
		expect(getDefaultValue(shipped, 'max_tokens', policy, t)).toBe(24);
	expect(getDefaultValue({ ...shipped, max_tokens: 1000 }, 'max_tokens', 'beam', t)).toBeNull();
	expect(getDefaultValue(shipped, 'num_beams', 'beam', t)).toBe(4);
	expect(getDefaultValue(shipped, 'temperature', 'sample', t)).toBe(0);
	expect(getDefaultValue(shipped, 'top_p', 'sample', t)).toBeNull();
});
