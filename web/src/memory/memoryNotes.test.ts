import { expect, test } from 'vitest';
import type { Section, Seen } from '$/api/events.gen';
import {
	splitChanges,
	isMemoryRequest,
	countOlderMessages,
	countBySource
} from '$/memory/memoryNotes';

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

test('there is nothing to count if the model saw every message', () => {
	expect(countOlderMessages({ ...NOTHING, memories: ['a'] }, IDS)).toBeNull();
});

test('every older message is counted once', () => {
	const seen = {
		...NOTHING,
		starts_at: 'm54',
		recalled: ['m3'],
		summaries: ['s1'],
		num_dropped_messages: 40
	};
	expect(countOlderMessages(seen, IDS)).toEqual({
		numSummarised: 12,
		numRecalled: 2,
		numDropped: 40
	});
});

test('messages that are not on the path to the answer are not counted', () => {
	const seen = { ...NOTHING, starts_at: 'elsewhere', summaries: ['s1'], num_dropped_messages: 4 };
	expect(countOlderMessages(seen, IDS)).toEqual({
		numSummarised: 0,
		numRecalled: 0,
		numDropped: 4
	});
});

test('suggestions are separated from changes, and the last change of a memory counts', () => {
	const { made, suggested } = splitChanges({
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

test('a memory request is recognised by the prompt the model was given', () => {
	const seenWith = (name: string): Seen => ({ ...NOTHING, prompts: [{ name, version: 3 }] });
	expect(isMemoryRequest(seenWith('memory_done'))).toBe(true);
	expect(isMemoryRequest(seenWith('memory_note'))).toBe(false);
	expect(isMemoryRequest(NOTHING)).toBe(false);
});

test('the tokens of a source are added up, and the shares make one', () => {
	const section = (source: Section['source'], num_tokens: number): Section => ({
		source,
		num_messages: 1,
		num_chars: 1,
		num_tokens
	});
	const shares = countBySource([
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
