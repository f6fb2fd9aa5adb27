// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Sampling } from '$/api/events.gen';
import { choiceOf, heldIn, typedOf } from '$/prompts/decoding';
import { en } from '$/words/en';

const t = en.settings.chat;
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

test('what is set is shown as it was typed, and nothing where nothing is', () => {
	expect(typedOf({ ...UNSET, temperature: 0, max_tokens: 24 })).toMatchObject({
		temperature: '0',
		max_tokens: '24',
		top_p: '',
		num_beams: ''
	});
	expect(typedOf({ ...UNSET, policy: 'beam', num_beams: 3 }).num_beams).toBe('3');
	expect(Object.values(typedOf(null)).every((text) => text === '')).toBe(true);
});

test('nothing typed is what comes with hitsend', () => {
	expect(choiceOf(typedOf(UNSET), 'sample', UNSET, t)).toBeNull();
});

test('only what the policy knows is sent, and what was set elsewhere stays', () => {
	const others = {
		stop: [],
		repeat_penalty: 1.1,
		json_schema: '{"type":"object"}',
		logit_bias: [[5, -100]] as [number, number][]
	};
	const before = { ...UNSET, ...others };
	const typed = { ...typedOf(before), temperature: '0,2', max_tokens: '40' };
	expect(choiceOf(typed, 'sample', before, t)).toEqual({
		...others,
		policy: 'sample',
		temperature: 0.2,
		max_tokens: 40
	});
	expect(choiceOf(typed, 'greedy', null, t)).toEqual({ policy: 'greedy', max_tokens: 40 });
});

test('what a beam search cannot keep to is left out with it', () => {
	const others = { presence_penalty: 1, frequency_penalty: 1, repeat_penalty: 1.1 };
	const bound = { json_schema: '{}', logit_bias: [[5, 2]] as [number, number][] };
	const before = { ...UNSET, ...others, ...bound, stop: ['x'], top_logprobs: 2 };
	expect(choiceOf(typedOf(before), 'beam', before, t)).toEqual({
		policy: 'beam',
		stop: ['x'],
		top_logprobs: 2
	});
});

test('what comes with hitsend holds under every policy it fits', () => {
	const shipped = { ...UNSET, temperature: 0, max_tokens: 24 };
	for (const policy of ['sample', 'greedy', 'beam'] as const)
		expect(heldIn(shipped, 'max_tokens', policy, t)).toBe(24);
	expect(heldIn({ ...shipped, max_tokens: 1000 }, 'max_tokens', 'beam', t)).toBeNull();
	expect(heldIn(shipped, 'num_beams', 'beam', t)).toBe(4);
	expect(heldIn(shipped, 'temperature', 'sample', t)).toBe(0);
	expect(heldIn(shipped, 'top_p', 'sample', t)).toBeNull();
});
