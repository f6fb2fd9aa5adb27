import { expect, test } from 'vitest';
import type { Section, Seen } from '$/api/events.gen';
import { changesOf, isWish, leftOf, sharesOf } from '$/memory/told';

const NOTHING: Seen = {
	starts_at: null,
	memories: [],
	recalled: [],
	summaries: [],
	num_dropped_messages: 0,
	prompts: [],
	changed: []
};
const IDS = Array.from({ length: 60 }, (_, i) => `m${i}`);

test('nothing is said where the model saw every message', () => {
	expect(leftOf({ ...NOTHING, memories: ['a'] }, IDS)).toBeNull();
});

test('every older message is counted once', () => {
	const seen = {
		...NOTHING,
		starts_at: 'm54',
		recalled: ['m3'],
		summaries: ['s1'],
		num_dropped_messages: 40
	};
	expect(leftOf(seen, IDS)).toEqual({ numSummarised: 12, numRecalled: 2, numDropped: 40 });
});

test('what is not on the way to the answer is not guessed', () => {
	const seen = { ...NOTHING, starts_at: 'elsewhere', summaries: ['s1'], num_dropped_messages: 4 };
	expect(leftOf(seen, IDS)).toEqual({ numSummarised: 0, numRecalled: 0, numDropped: 4 });
});

test('what was suggested is told apart from what was done, and the last change of a memory counts', () => {
	const { made, suggested } = changesOf({
		...NOTHING,
		changed: [
			{ memory_id: 'a', change: 'added' },
			{ memory_id: 'b', change: 'suggested' },
			{ memory_id: 'a', change: 'removed' }
		]
	});
	expect(made).toEqual([{ memory_id: 'a', change: 'removed' }]);
	expect(suggested).toEqual([{ memory_id: 'b', change: 'suggested' }]);
});

test('a wish is known by what the model was told of it', () => {
	const told = (name: string): Seen => ({ ...NOTHING, prompts: [{ name, version: 3 }] });
	expect(isWish(told('memory_done'))).toBe(true);
	expect(isWish(told('memory_note'))).toBe(false);
	expect(isWish(NOTHING)).toBe(false);
});

test('the shares of the window add up, one for each source', () => {
	const section = (source: Section['source'], num_tokens: number): Section => ({
		source,
		num_messages: 1,
		num_chars: 1,
		num_tokens
	});
	const shares = sharesOf([
		section('system', 20),
		section('history', 50),
		section('memory', 0),
		section('history', 30)
	]);
	expect(shares).toEqual([
		{ source: 'system', numTokens: 20, share: 0.2 },
		{ source: 'history', numTokens: 80, share: 0.8 }
	]);
});
