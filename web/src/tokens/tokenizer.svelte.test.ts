import { expect, test, vi } from 'vitest';
import { ApiError } from '$/api/http';
import type { Tokenized } from '$/api/wire';
import { Tokenizer } from '$/tokens/tokenizer.svelte';

const NONE: Tokenized = {
	model: 'm',
	num_tokens: 0,
	num_characters: 0,
	num_bytes: 0,
	ids: [],
	pieces: [],
	bytes: [],
	spans: []
};

/** A fake server whose responses the test resolves. */
class FakeServer {
	requests: { text: string; answer: (tokenized: Tokenized) => void; refuse: (e: Error) => void }[] =
		[];
	tokenize = ({ text }: { text?: string }) =>
		new Promise<Tokenized>((answer, refuse) => {
			this.requests.push({ text: text ?? '', answer, refuse });
		});
	async answerTo(text: string, numTokens: number): Promise<void> {
		const request = await vi.waitUntil(() => this.requests.find((one) => one.text === text));
		request.answer({ ...NONE, num_tokens: numTokens });
		await Promise.resolve();
	}
}

test('only the text after a pause in typing is requested', async () => {
	const server = new FakeServer();
	const tokenizer = new Tokenizer(server, 5);
	for (const text of ['h', 'he', 'hey']) tokenizer.request('auto', text);
	expect(tokenizer.isBusy).toBe(true);
	await server.answerTo('hey', 1);
	await vi.waitUntil(() => !tokenizer.isBusy);
	expect(server.requests.map(({ text }) => text)).toEqual(['hey']);
	expect(tokenizer.tokenized?.num_tokens).toBe(1);
});

test('a late response never replaces that of a newer text', async () => {
	const server = new FakeServer();
	const tokenizer = new Tokenizer(server, 0);
	tokenizer.request('auto', 'old');
	await vi.waitUntil(() => server.requests.length === 1);
	tokenizer.request('auto', 'new');
	await server.answerTo('new', 2);
	await server.answerTo('old', 1);
	await vi.waitUntil(() => !tokenizer.isBusy);
	expect(tokenizer.tokenized?.num_tokens).toBe(2);
});

test('a problem is kept until the next successful response', async () => {
	const server = new FakeServer();
	const tokenizer = new Tokenizer(server, 0);
	tokenizer.request('auto', 'a');
	await vi.waitUntil(() => server.requests.length === 1);
	server.requests[0]?.refuse(new ApiError('It is not loaded.', 503, 'engine_down'));
	await vi.waitUntil(() => tokenizer.problem !== null);
	expect(tokenizer.problem?.message).toBe('It is not loaded.');
	tokenizer.request('auto', 'b');
	await server.answerTo('b', 1);
	await vi.waitUntil(() => tokenizer.problem === null);
});
