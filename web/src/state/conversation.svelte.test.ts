// @vitest-environment jsdom
import { expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { SendBody } from '$/api/wire';
import { Conversation } from '$/state/conversation.svelte';
import { expected, sse } from '$/turn/recorded';

type Handler = (body: SendBody, path: string) => Response | Promise<Response>;

/** A server made of one function per route. */
function api(routes: Record<string, Handler>): Api {
	return new Api(async (path, init) => {
		const route = `${init?.method ?? 'GET'} ${path.replace('/backend-api/', '')}`;
		const handler = routes[route];
		if (handler === undefined) throw new Error(`No route ${route}.`);
		const body = typeof init?.body === 'string' ? init.body : 'null';
		return handler(JSON.parse(body) as SendBody, path);
	});
}

const played = (name: string) =>
	new Response(sse(name), { headers: { 'x-turn-exchange-id': 't1' } });

const refused = (status: number, message: string) =>
	Response.json({ error: { message, code: null } }, { status });

const texts = (conversation: Conversation) =>
	conversation.path.map(({ id }) => conversation.message(id)?.content.parts[0]);

/** What the page sends has an id of its own making; the recorded turn has another. */
function withRecordedId(name: string, body: SendBody): Response {
	const recorded = expected(name).messages[0]?.id ?? '';
	const text = sse(name).replaceAll(recorded, body.messages[0]?.id ?? '');
	return new Response(text, { headers: { 'x-turn-exchange-id': 't1' } });
}

test('a message that is sent is answered below it', async () => {
	const conversation = new Conversation(
		api({ 'POST f/conversation': (body) => withRecordedId('hello', body) }),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send('auto');

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.draft).toBe('');
	expect(conversation.id).not.toBeNull();
	expect(conversation.title).toBe('Say hello.');
	expect(conversation.isAnswering).toBe(false);
});

test('a message the server refuses goes back to where it was written', async () => {
	const conversation = new Conversation(
		api({ 'POST f/conversation': () => refused(503, 'No model is ready.') }),
		null
	);
	conversation.draft = 'Hello?';
	await conversation.send('auto');

	expect(conversation.draft).toBe('Hello?');
	expect(conversation.problem).toBe('No model is ready.');
	expect(conversation.path).toEqual([]);
});

test('a message that is tried again keeps its id, so that it is said once', async () => {
	const ids: (string | undefined)[] = [];
	const conversation = new Conversation(
		api({
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				return ids.length === 1 ? refused(503, 'Not now.') : withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send('auto');
	await conversation.send('auto');

	expect(ids[0]).toBeDefined();
	expect(ids[1]).toBe(ids[0]);
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('a message that was heard although its answer was lost is not said again', async () => {
	const [question, answer] = expected('hello').messages;
	if (question === undefined || answer === undefined) throw new Error('hello has two messages');
	let heard = '';
	const conversation = new Conversation(
		api({
			'POST f/conversation': (body) => {
				heard = body.messages[0]?.id ?? '';
				throw new TypeError('Failed to fetch');
			},
			'GET conversation/c1': () =>
				Response.json({
					conversation_id: 'c1',
					title: '',
					current_node: answer.id,
					mapping: {
						[heard]: { id: heard, parent: null, children: [answer.id], message: question },
						[answer.id]: { id: answer.id, parent: heard, children: [], message: answer }
					},
					running: null
				})
		}),
		'c1'
	);
	conversation.draft = 'Say hello.';
	await conversation.send('auto');

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.draft).toBe('');
});

test('an empty draft is not sent', async () => {
	const conversation = new Conversation(api({}), null);
	conversation.draft = '  \n ';
	await conversation.send('auto');

	expect(conversation.path).toEqual([]);
});

test('opening a conversation that is being answered goes on with the answer', async () => {
	const [question, answer] = expected('hello').messages;
	if (question === undefined || answer === undefined) throw new Error('hello has two messages');
	const conversation = new Conversation(
		api({
			'GET conversation/c1': () =>
				Response.json({
					conversation_id: 'c1',
					title: 'Say hello.',
					current_node: question.id,
					mapping: {
						[question.id]: { id: question.id, parent: null, children: [], message: question }
					},
					running: { turn_exchange_id: 't1', message_id: answer.id }
				}),
			'GET f/conversation/t1/events': () => played('hello')
		}),
		'c1'
	);
	await conversation.load();
	await expect.poll(() => conversation.isAnswering).toBe(false);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('another answer stands beside the first, and either can be shown', async () => {
	const sent: SendBody[] = [];
	const conversation = new Conversation(
		api({
			'POST f/conversation': (body) => {
				sent.push(body);
				return body.action === 'next' ? withRecordedId('hello', body) : variant(sent[0]);
			},
			[`PATCH conversation/${conversationId()}`]: () => Response.json({ success: true })
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send('auto');
	const first = conversation.path[1]?.id ?? '';
	await conversation.answerAgain(first, 'auto');

	expect(sent[1]).toMatchObject({ action: 'variant', messages: [] });
	expect(sent[1]?.parent_message_id).toBe(sent[0]?.messages[0]?.id);
	expect(conversation.path[1]?.alternatives).toHaveLength(2);
	expect(conversation.path[1]?.id).not.toBe(first);
	await conversation.show(first);
	expect(conversation.path[1]?.id).toBe(first);
});

test('a conversation that is not there is told to be missing', async () => {
	const conversation = new Conversation(
		api({ 'GET conversation/c1': () => refused(404, 'There is no such conversation.') }),
		'c1'
	);
	await conversation.load();

	expect(conversation.state).toBe('missing');
	expect(conversation.problem).toBe('There is no such conversation.');
});

function conversationId(): string {
	return /"conversation_id":"([\w-]+)"/.exec(sse('hello'))?.[1] ?? '';
}

/** The recorded turn again, as a variant: no question, and an answer with an id of its own. */
function variant(first: SendBody | undefined): Response {
	const [question, answer] = expected('hello').messages;
	const text = sse('hello')
		.split(/(?<=\n\n)/)
		.filter((frame) => !frame.includes('"role":"user"'))
		.map((frame) =>
			frame.replace('data: {"v":{"message"', 'data: {"p":"","o":"add","v":{"message"')
		)
		.join('')
		.replaceAll(question?.id ?? '', first?.messages[0]?.id ?? '')
		.replaceAll(answer?.id ?? '', 'another-answer')
		.replace(/\{"id":"[\w-]+","chars":10,"sha256":"\w+"\},/, '');
	return new Response(text, { headers: { 'x-turn-exchange-id': 't2' } });
}
