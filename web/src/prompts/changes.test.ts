// @vitest-environment jsdom
import { expect, test } from 'vitest';
import type { Change } from '$/prompts/calls';
import { saidOf } from '$/prompts/changes';
import { promptWords } from '$/words/prompts';

const change = (some: Partial<Change>): Change => ({
	position: 1,
	at: 1_790_000_000,
	name: 'ada',
	action: 'prompt.activated',
	subject: 'system',
	detail: { version: '1001' },
	...some
});

test('who changed what is told in the language of the page', () => {
	expect(saidOf(change({}), promptWords('en'))).toMatchObject({
		title: 'ada activated a version of System instructions',
		details: ['version 1001', expect.stringContaining('2026')]
	});
	expect(saidOf(change({ name: null }), promptWords('de')).title).toBe(
		'jemand, den es hier nicht mehr gibt: Fassung aktiviert, Systemanweisung'
	);
});

test('going back to what came with hitsend is told as that', () => {
	const { details } = saidOf(change({ detail: { version: 'shipped' } }), promptWords('en'));
	expect(details[0]).toBe('what comes with hitsend');
});

test('how a prompt is decoded is told number by number', () => {
	const detail = { sampling: '{"temperature":0.3,"max_tokens":40}' };
	const decoding = change({ action: 'prompt.decoding', detail });
	expect(saidOf(decoding, promptWords('en')).details[0]).toBe('temperature 0.3, max_tokens 40');
});

test('the end of a comparison names the winner, not its id', () => {
	const detail = { experiment: 'some-id', winner: 'none' };
	const ended = change({ action: 'experiment.ended', detail });
	expect(saidOf(ended, promptWords('en')).details[0]).toBe('without a winner');
});

test('what the page does not know is told as the server names it', () => {
	const unknown = change({ action: 'house.painted', subject: 'wall', detail: { colour: 'red' } });
	expect(saidOf(unknown, promptWords('en'))).toMatchObject({
		title: 'ada house.painted wall',
		details: ['colour: red', expect.anything()]
	});
});
