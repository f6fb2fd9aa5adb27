// @vitest-environment jsdom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Api } from '$/api/client';
import type { Message, PrewarmReply } from '$/api/wire';
import TokenCount from '$/chat/TokenCount.svelte';
import { Preferences } from '$/state/preferences.svelte';
import { buildPrewarmRequest } from '$/state/prewarmRequest';
import { Workspace } from '$/state/workspace.svelte';
import { en } from '$/words/en';
import { setWords } from '$/words/words';

const PROMPT_SIZE: PrewarmReply = {
	status: 'skipped',
	conduit_token: null,
	warmup_state: 'cold',
	num_tokens: 3100,
	num_window_tokens: 8192,
	num_dropped_messages: 0,
	is_exact: true
};
const REFUSAL = { message: 'It does not fit.', code: 'context_length_exceeded' };

let promptSize: PrewarmReply | null = PROMPT_SIZE;
let numRequests = 0;
const api = new Api((path) => {
	if (path.endsWith('/models'))
		return respond({
			models: [{ name: 'm', num_window_tokens: 8192, is_default: true }],
			offers: []
		});
	if (path.endsWith('/status')) return respond({ state: 'ready', downloads: [], model: 'm' });
	if (path.endsWith('/prepare')) {
		numRequests += 1;
		return promptSize === null ? respond({ error: REFUSAL }, 400) : respond(promptSize);
	}
	return respond(buildConversation(7000));
});

function respond(body: unknown, status = 200): Promise<Response> {
	return Promise.resolve(Response.json(body, { status }));
}

/** One question and its answer that fill the context window with so many tokens. */
function buildConversation(numTokens: number) {
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

const CountInEnglish: typeof TokenCount = (anchor, props) => {
	setWords(en);
	return TokenCount(anchor, props);
};

let workspace: Workspace;
let counter: object;
let stopEffect: () => void;
async function openChat(id: string | null): Promise<void> {
	const user = { id: 'u', name: 'ada', role: 'member' as const };
	const preferences = new Preferences(localStorage);
	await preferences.change({ isReadAhead: false });
	workspace = new Workspace(api, preferences, user, () => undefined);
	await workspace.engine.refresh();
	if (id !== null) {
		workspace.openConversation(id);
		await vi.advanceTimersByTimeAsync(0);
	}
	// As the composer does, for a person who turned prewarming off.
	stopEffect = $effect.root(() => {
		$effect(() => workspace.prewarm.update(buildPrewarmRequest(workspace, workspace.open, true)));
	});
	const props = { workspace, conversation: workspace.open };
	counter = mount(CountInEnglish, { target: document.body, props, context: new Map() });
}
async function type(text: string, restMs = 600): Promise<void> {
	workspace.open.draft = text;
	flushSync();
	await vi.advanceTimersByTimeAsync(restMs);
	flushSync();
}
const getText = () => document.body.textContent?.trim() ?? '';

beforeEach(() => {
	vi.useFakeTimers();
	promptSize = PROMPT_SIZE;
	numRequests = 0;
});
afterEach(async () => {
	stopEffect();
	await unmount(counter);
	workspace.close();
	localStorage.clear();
	vi.useRealTimers();
});

test('a short message in a short chat is not counted', async () => {
	await openChat(null);
	await type('Hello');
	expect(getText()).toBe('');
	expect(numRequests).toBe(0);
});

test('a long message is counted after a pause in typing', async () => {
	await openChat(null);
	await type('a'.repeat(3000), 100);
	await type('a'.repeat(3001), 100);
	await type('a'.repeat(3002));
	expect(numRequests).toBe(1);
	expect(getText()).toBe('3,100 of 8,192 tokens');
});

test('messages that will be left out are announced', async () => {
	promptSize = { ...PROMPT_SIZE, num_dropped_messages: 2, is_exact: false };
	await openChat(null);
	await type('a'.repeat(3000));
	expect(getText()).toContain('The 2 oldest messages will be left out');
	expect(getText()).toContain('about 3,100 of 8,192 tokens');
});

test('a message that cannot fit is reported before it is sent', async () => {
	promptSize = null;
	await openChat(null);
	await type('a'.repeat(3000));
	expect(getText()).toBe(en.composer.tokens.tooLong);
	promptSize = PROMPT_SIZE;
	await type('short');
	expect(getText()).toBe('');
});

test('a long chat shows how full it is even without a draft', async () => {
	await openChat('c');
	await type('');
	expect(getText()).toBe('7,000 of 8,192 tokens');
	expect(numRequests).toBe(0);
	await type('Hi');
	expect(getText()).toBe('3,100 of 8,192 tokens');
});
