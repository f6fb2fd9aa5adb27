import { expect, test } from 'vitest';
import type { Sampling } from '$/api/events.gen';
import { choiceOf, typedOf } from '$/prompts/decoding';
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
	stop: [],
	logit_bias: [],
	top_logprobs: 0,
	json_schema: null,
	policy: 'sample',
	num_beams: 4
};

test('what is set is shown as it was typed, and nothing where nothing is', () => {
	expect(typedOf({ ...UNSET, temperature: 0, max_tokens: 24 })).toMatchObject({
		temperature: '0',
		max_tokens: '24',
		top_p: '',
		num_beams: ''
	});
	expect(typedOf({ ...UNSET, policy: 'beam' }).num_beams).toBe('4');
	expect(Object.values(typedOf(null)).every((text) => text === '')).toBe(true);
});

test('nothing typed is what comes with hitsend', () => {
	expect(choiceOf(typedOf(UNSET), 'sample', UNSET, t)).toBeNull();
});

test('only what the policy knows is sent, and what was set elsewhere stays', () => {
	const before = { ...UNSET, stop: ['\n'], repeat_penalty: 1.1 };
	const typed = { ...typedOf(before), temperature: '0,2', max_tokens: '40' };
	expect(choiceOf(typed, 'sample', before, t)).toEqual({
		stop: ['\n'],
		repeat_penalty: 1.1,
		temperature: 0.2,
		max_tokens: 40
	});
	expect(choiceOf(typed, 'greedy', null, t)).toEqual({ policy: 'greedy', max_tokens: 40 });
});
