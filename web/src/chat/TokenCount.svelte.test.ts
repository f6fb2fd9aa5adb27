// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { Message, Prepared } from '$/api/wire';
import TokenCount from '$/chat/TokenCount.svelte';
import { Desk } from '$/state/desk.svelte';
import { Preferences } from '$/state/preferences.svelte';
import { preparationOf } from '$/state/preparation';
import { en } from '$/words/en';
import { setWords } from '$/words/words';

const WEIGHT: Prepared = {
	status: 'skipped',
	conduit_token: null,
	warmup_state: 'cold',
	num_tokens: 3100,
	num_window_tokens: 8192,
	num_dropped_messages: 0,
	is_exact: true
};
const REFUSAL = { message: 'It does not fit.', code: 'context_length_exceeded' };

let weight: Prepared | null = WEIGHT;
let numWeighed = 0;
const api = new Api((path) => {
	if (path.endsWith('/models'))
		return answer({
			models: [{ name: 'm', num_window_tokens: 8192, is_default: true }],
			offers: []
		});
	if (path.endsWith('/status')) return answer({ state: 'ready', downloads: [], model: 'm' });
	if (path.endsWith('/prepare')) {
		numWeighed += 1;
		return weight === null ? answer({ error: REFUSAL }, 400) : answer(weight);
	}
	return answer(conversation(7000));
});

function answer(body: unknown, status = 200): Promise<Response> {
	return Promise.resolve(Response.json(body, { status }));
}

/** One question and its answer, after which the window holds that many tokens. */
function conversation(numTokens: number) {
	const usage = { num_input_tokens: numTokens - 100, num_output_tokens: 100 };
	const message = (id: string, role: string, metadata: object): Partial<Message> => ({
		id,
		author: { role },
		content: { content_type: 'text', parts: ['words'] },
		status: 'finished_successfully',
		metadata
	});
	return {
		title: 'Long',
		current_node: 'a',
		running: null,
		mapping: {
			q: { id: 'q', parent: null, children: ['a'], message: message('q', 'user', {}) },
			a: { id: 'a', parent: 'q', children: [], message: message('a', 'assistant', { usage }) }
		}
	};
}

const inEnglish: typeof TokenCount = (anchor, props) => {
	setWords(en);
	return TokenCount(anchor, props);
};

let desk: Desk;
let counter: object;
let unwatch: () => void;
async function open(id: string | null): Promise<void> {
	const user = { id: 'u', name: 'ada', role: 'member' as const };
	const preferences = new Preferences(localStorage);
	await preferences.change({ isReadAhead: false });
	desk = new Desk(api, preferences, user, () => undefined);
	await desk.engine.refresh();
	if (id !== null) {
		desk.visit(id);
		await vi.advanceTimersByTimeAsync(0);
	}
	// As the composer does, for somebody who wants nothing read ahead.
	unwatch = $effect.root(() => {
		$effect(() => desk.warming.consider(preparationOf(desk, desk.open, true)));
	});
	const props = { desk, conversation: desk.open };
	counter = mount(inEnglish, { target: document.body, props, context: new Map() });
}
async function write(text: string, restMs = 600): Promise<void> {
	desk.open.draft = text;
	flushSync();
	await vi.advanceTimersByTimeAsync(restMs);
	flushSync();
}
const shown = () => document.body.textContent?.trim() ?? '';

beforeEach(() => {
	vi.useFakeTimers();
	weight = WEIGHT;
	numWeighed = 0;
});
afterEach(async () => {
	unwatch();
	await unmount(counter);
	desk.leave();
	localStorage.clear();
	vi.useRealTimers();
});

test('a short message in a short chat is not counted', async () => {
	await open(null);
	await write('Hello');
	expect(shown()).toBe('');
	expect(numWeighed).toBe(0);
});

test('a long message is weighed once the writing rests', async () => {
	await open(null);
	await write('a'.repeat(3000), 100);
	await write('a'.repeat(3001), 100);
	await write('a'.repeat(3002));
	expect(numWeighed).toBe(1);
	expect(shown()).toBe('3,100 of 8,192 tokens');
});

test('what will be left out is said', async () => {
	weight = { ...WEIGHT, num_dropped_messages: 2, is_exact: false };
	await open(null);
	await write('a'.repeat(3000));
	expect(shown()).toContain('The 2 oldest messages will be left out');
	expect(shown()).toContain('about 3,100 of 8,192 tokens');
});

test('what cannot fit is said before it is sent', async () => {
	weight = null;
	await open(null);
	await write('a'.repeat(3000));
	expect(shown()).toBe(en.composer.tokens.tooLong);
	weight = WEIGHT;
	await write('short');
	expect(shown()).toBe('');
});

test('in a chat that has grown long even an empty message shows how full it is', async () => {
	await open('c');
	await write('');
	expect(shown()).toBe('7,000 of 8,192 tokens');
	expect(numWeighed).toBe(0);
	await write('Hi');
	expect(shown()).toBe('3,100 of 8,192 tokens');
});
