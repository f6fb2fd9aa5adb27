import { expect, test, vi } from 'vitest';
import { ApiError } from '$/api/client';
import type { Tokenized } from '$/api/wire';
import { Tokenizing } from '$/tokens/tokenizing.svelte';

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

/** A server that answers when it is told to. */
class Server {
	asked: { text: string; answer: (tokenized: Tokenized) => void; refuse: (e: Error) => void }[] =
		[];
	tokenize = ({ text }: { text?: string }) =>
		new Promise<Tokenized>((answer, refuse) => {
			this.asked.push({ text: text ?? '', answer, refuse });
		});
	async answerTo(text: string, numTokens: number): Promise<void> {
		const asked = await vi.waitUntil(() => this.asked.find((one) => one.text === text));
		asked.answer({ ...NONE, num_tokens: numTokens });
		await Promise.resolve();
	}
}

test('only the text at which the typing paused is asked about', async () => {
	const server = new Server();
	const tokenizing = new Tokenizing(server, 5);
	for (const text of ['h', 'he', 'hey']) tokenizing.show('auto', text);
	expect(tokenizing.isBusy).toBe(true);
	await server.answerTo('hey', 1);
	await vi.waitUntil(() => !tokenizing.isBusy);
	expect(server.asked.map(({ text }) => text)).toEqual(['hey']);
	expect(tokenizing.tokenized?.num_tokens).toBe(1);
});

test('the answer to an older text never replaces a newer one', async () => {
	const server = new Server();
	const tokenizing = new Tokenizing(server, 0);
	tokenizing.show('auto', 'old');
	await vi.waitUntil(() => server.asked.length === 1);
	tokenizing.show('auto', 'new');
	await server.answerTo('new', 2);
	await server.answerTo('old', 1);
	await vi.waitUntil(() => !tokenizing.isBusy);
	expect(tokenizing.tokenized?.num_tokens).toBe(2);
});

test('what went wrong is said, and forgotten with the next answer', async () => {
	const server = new Server();
	const tokenizing = new Tokenizing(server, 0);
	tokenizing.show('auto', 'a');
	await vi.waitUntil(() => server.asked.length === 1);
	server.asked[0]?.refuse(new ApiError('It is not loaded.', 503, 'engine_down'));
	await vi.waitUntil(() => tokenizing.problem !== null);
	expect(tokenizing.problem?.message).toBe('It is not loaded.');
	tokenizing.show('auto', 'b');
	await server.answerTo('b', 1);
	await vi.waitUntil(() => tokenizing.problem === null);
});
