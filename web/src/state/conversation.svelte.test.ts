// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { Message, SendBody } from '$/api/wire';
import { Conversation } from '$/state/conversation.svelte';
import type { SendOptions } from '$/state/sendBody';
import { Delivery } from '$/state/delivery.svelte';
import { Drafts } from '$/state/drafts';
import { Outbox, type OutgoingMessage } from '$/state/outbox';
import type { Backoff } from '$/api/backoff';
import { readExpected, readStream } from '$/turn/recordedTurns';

const OPTIONS: SendOptions = { model: 'auto', sampling: {} };
const OUTGOING: OutgoingMessage = {
	id: 'm1',
	text: 'Say hello.',
	conversationId: 'c1',
	parent: null,
	edits: null,
	ask: OPTIONS,
	isWaiting: false
};
const drafts = new Drafts(localStorage, 'ada');
const noBackoff = () => new Promise<void>((done) => setTimeout(done, 1));

beforeEach(() => localStorage.clear());

/** Opens a conversation with a delivery of its own. Retries do not wait. */
function openConversation(api: Api, id: string | null, pause: Backoff = noBackoff): Conversation {
	const delivery = new Delivery(api, new Outbox(localStorage, 'ada'), pause);
	const conversation = new Conversation(api, id, drafts, delivery, pause);
	delivery.isStored = (outgoing) => conversation.hasStored(outgoing);
	delivery.canSend = () => conversation.isIdle;
	delivery.onsend = (outgoing, turn) => void conversation.watch(outgoing, turn);
	delivery.onsettled = (outgoing, result) => conversation.settle(outgoing, result);
	delivery.start();
	return conversation;
}

type Handler = (body: SendBody, path: string) => Response | Promise<Response>;

/** A fake API with one handler per route. */
function fakeApi(routes: Record<string, Handler>): Api {
	return new Api(async (path, init) => {
		const route = `${init?.method ?? 'GET'} ${path.replace('/backend-api/', '')}`;
		const handler = routes[route];
		if (handler === undefined) throw new Error(`No route ${route}.`);
		const body = typeof init?.body === 'string' ? init.body : 'null';
		return handler(JSON.parse(body) as SendBody, path);
	});
}

const playTurn = (name: string) =>
	new Response(readStream(name), { headers: { 'x-turn-exchange-id': 't1' } });

const refuse = (status: number, message: string, code: string | null = null) =>
	Response.json({ error: { message, code } }, { status });

const texts = (conversation: Conversation) =>
	conversation.path.map(({ id }) => conversation.message(id)?.content.parts[0]);

/** Plays a recorded turn with the id of the message that the page sent. */
function playTurnFor(name: string, body: SendBody): Response {
	const recorded = readExpected(name).messages[0]?.id ?? '';
	const text = readStream(name).replaceAll(recorded, body.messages[0]?.id ?? '');
	return new Response(text, { headers: { 'x-turn-exchange-id': 't1' } });
}

test('the answer to a message is shown below it', async () => {
	const conversation = openConversation(
		fakeApi({ 'POST f/conversation': (body) => playTurnFor('hello', body) }),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.draft).toBe('');
	expect(conversation.id).not.toBeNull();
	expect(conversation.title).toBe('Say hello.');
	expect(conversation.isAnswering).toBe(false);
});

test('a refused message returns to the draft', async () => {
	const conversation = openConversation(
		fakeApi({ 'POST f/conversation': () => refuse(400, 'That is too long.') }),
		null
	);
	conversation.draft = 'Hello?';
	await conversation.send(OPTIONS);

	expect(conversation.draft).toBe('Hello?');
	expect(conversation.problem).toMatchObject({ message: 'That is too long.' });
	expect(conversation.path).toEqual([]);
});

test('a refused message that is sent again unchanged keeps its id', async () => {
	const ids: (string | undefined)[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				return ids.length === 1 ? refuse(400, 'Not now.') : playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);
	await conversation.send(OPTIONS);

	expect(ids[0]).toBeDefined();
	expect(ids[1]).toBe(ids[0]);
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('a message whose response was lost is sent again unchanged', async () => {
	const sent: SendBody[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				sent.push(body);
				if (sent.length === 1) throw new TypeError('Failed to fetch');
				return playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);

	expect(sent).toHaveLength(2);
	expect(sent[1]).toEqual(sent[0]);
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.queued).toBeNull();
});

test('a refused message that is sent to another model gets a new id', async () => {
	const ids: (string | undefined)[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				return refuse(400, 'No.');
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);
	await conversation.send({ ...OPTIONS, model: 'another' });

	expect(ids[1]).not.toBe(ids[0]);
});

test('an empty draft is not sent', async () => {
	const conversation = openConversation(fakeApi({}), null);
	conversation.draft = '  \n ';
	await conversation.send(OPTIONS);

	expect(conversation.path).toEqual([]);
});

test('a message keeps the whitespace around its text', async () => {
	const sentTexts: (string | undefined)[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				sentTexts.push(body.messages[0]?.content.parts[0]);
				return playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.draft = '    indented\n\tcode\n';
	await conversation.send(OPTIONS);

	expect(sentTexts).toEqual(['    indented\n\tcode\n']);
});

test('opening a conversation follows its running turn', async () => {
	const { question, answer } = helloMessages();
	const conversation = openConversation(
		fakeApi({
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
			'GET f/conversation/t1/events': () => playTurn('hello')
		}),
		'c1'
	);
	await conversation.load();
	await expect.poll(() => conversation.isAnswering).toBe(false);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('another answer is a branch beside the first, and either can be shown', async () => {
	const sent: SendBody[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				sent.push(body);
				return body.action === 'next'
					? playTurnFor('hello', body)
					: playVariant(sent[0]?.messages[0]?.id ?? '');
			},
			[`PATCH conversation/${recordedConversationId()}`]: () => Response.json({ success: true })
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);
	const first = conversation.path[1]?.id ?? '';
	await conversation.answerAgain(first, OPTIONS);

	expect(sent[1]).toMatchObject({ action: 'variant', messages: [] });
	expect(sent[1]?.parent_message_id).toBe(sent[0]?.messages[0]?.id);
	expect(conversation.path[1]?.alternatives).toHaveLength(2);
	expect(conversation.path[1]?.id).not.toBe(first);
	await conversation.showBranch(first);
	expect(conversation.path[1]?.id).toBe(first);
});

test('a conversation that does not exist is missing', async () => {
	const conversation = openConversation(
		fakeApi({ 'GET conversation/c1': () => refuse(404, 'There is no such conversation.') }),
		'c1'
	);
	await conversation.load();

	expect(conversation.state).toBe('missing');
	expect(conversation.problem).toMatchObject({ message: 'There is no such conversation.' });
});

test('a message carries the chosen model and sampling', async () => {
	const sent: SendBody[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				sent.push(body);
				return playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send({ model: 'small', sampling: { temperature: 0.2 } });

	expect(sent[0]).toMatchObject({ model: 'small', sampling: { temperature: 0.2 } });
});

test('a message waits for an unreachable server, and keeps one id in all tries', async () => {
	const ids: (string | undefined)[] = [];
	let isUp = false;
	const conversation = openConversation(
		fakeApi({
			'GET status': () => {
				isUp = true;
				return Response.json({});
			},
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				if (!isUp) throw new TypeError('Failed to fetch');
				return playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);
	await expect.poll(() => texts(conversation)).toEqual(['Say hello.', 'Hello there!']);

	expect(new Set(ids).size).toBe(1);
	expect(conversation.queued).toBeNull();
});

test('a draft survives a reload', () => {
	const conversation = openConversation(fakeApi({}), 'c1');
	conversation.draft = 'Half a thou';
	conversation.close();

	expect(openConversation(fakeApi({}), 'c1').draft).toBe('Half a thou');
	expect(openConversation(fakeApi({}), 'c2').draft).toBe('');
});

test('a draft is deleted from storage when its chat becomes temporary', () => {
	const conversation = openConversation(fakeApi({}), null);
	conversation.draft = 'Between us.';
	conversation.close();
	expect(drafts.get(null)).toBe('Between us.');

	const temporary = openConversation(fakeApi({}), null);
	temporary.isTemporary = true;

	expect(temporary.draft).toBe('Between us.');
	expect(drafts.get(null)).toBe('');
});

test('a draft in a reopened temporary chat is not stored', async () => {
	const { question, answer } = helloMessages();
	const shown = { ...detail('c1', question, answer), is_temporary: true };
	const conversation = openConversation(
		fakeApi({ 'GET conversation/c1': () => Response.json(shown) }),
		'c1'
	);
	await conversation.load();
	conversation.draft = 'Between us.';
	conversation.close();

	expect(drafts.get('c1')).toBe('');
});

test('a draft written in a new chat moves to the id of the conversation', async () => {
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				conversation.draft = 'And then?';
				return playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);
	conversation.close();

	expect(drafts.get(null)).toBe('');
	expect(drafts.get(recordedConversationId())).toBe('And then?');
});

test('a continuation is shown as one message with the answer before it', async () => {
	const { question, answer } = helloMessages();
	const sent: SendBody[] = [];
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			'POST f/conversation': (body) => {
				sent.push(body);
				return playContinuation(answer.id);
			}
		}),
		'c1'
	);
	await conversation.load();
	await conversation.continueAnswer(answer.id, OPTIONS);

	expect(sent[0]).toMatchObject({ action: 'continue', parent_message_id: answer.id, messages: [] });
	expect(conversation.path.map(({ ids }) => ids.length)).toEqual([1, 2]);
	const place = conversation.path[1];
	expect(place && conversation.messageAt(place)?.content.parts[0]).toBe('Hello there!Hello there!');
});

test('feedback is shown at once, and reverted if the server refuses it', async () => {
	const { question, answer } = helloMessages();
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			[`PUT conversation/c1/messages/${answer.id}/feedback`]: () => refuse(503, 'Not now.')
		}),
		'c1'
	);
	await conversation.load();
	const rating = conversation.rate(answer.id, { rating: 'up', reason: null, text: '' });
	expect(conversation.message(answer.id)?.metadata.feedback?.rating).toBe('up');
	await rating;

	expect(conversation.message(answer.id)?.metadata.feedback).toBeUndefined();
	expect(conversation.problem?.message).toBe('Not now.');
});

test('a conversation opens by itself when the server is reachable again', async () => {
	const { question, answer } = helloMessages();
	let tries = 0;
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => {
				if (++tries < 3) throw new TypeError('Failed to fetch');
				return Response.json(detail('c1', question, answer));
			}
		}),
		'c1'
	);
	await conversation.load();

	expect(conversation.state).toBe('open');
	expect(conversation.problem).toBeNull();
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('nothing can be sent until the conversation is loaded', async () => {
	const { question, answer } = helloMessages();
	const conversation = openConversation(
		fakeApi({ 'GET conversation/c1': () => Response.json(detail('c1', question, answer)) }),
		'c1'
	);
	const loading = conversation.load();
	conversation.draft = 'Too early.';
	await conversation.send(OPTIONS);
	expect(conversation.canSend).toBe(false);
	expect(conversation.draft).toBe('Too early.');
	await loading;

	expect(conversation.canSend).toBe(true);
});

test('a refused edit stays open, and the old messages stay shown', async () => {
	const { question, answer } = helloMessages();
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			'POST f/conversation': () => refuse(400, 'Too long.')
		}),
		'c1'
	);
	await conversation.load();
	conversation.editing = { id: question.id, text: 'Say goodbye.', problem: null };
	await conversation.edit(OPTIONS);

	expect(conversation.editing).toMatchObject({
		id: question.id,
		text: 'Say goodbye.',
		problem: { message: 'Too long.' }
	});
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.draft).toBe('');
	expect(conversation.problem).toBeNull();
});

test('a turn stopped without the server ends in the page, and is fetched again later', async () => {
	const { question, answer } = helloMessages();
	const stopped: unknown[] = [];
	let isUp = false;
	let opens = 0;
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => {
				if (++opens > 1 && !isUp) throw new TypeError('Failed to fetch');
				const running = stopped.length > 0 ? null : { turn_exchange_id: 't1', message_id: 'a' };
				return Response.json({ ...detail('c1', question, answer), running });
			},
			'GET f/conversation/t1/events': () => {
				if (isUp) return playTurn('hello');
				throw new TypeError('Failed to fetch');
			},
			'POST stop_conversation': (body) => {
				if (!isUp) throw new TypeError('Failed to fetch');
				stopped.push(body);
				return new Response('');
			}
		}),
		'c1',
		() => new Promise((done) => setTimeout(done, 1))
	);
	await conversation.load();
	await expect.poll(() => conversation.isAnswering).toBe(true);
	conversation.stop();
	await expect.poll(() => conversation.isAnswering).toBe(false);
	expect(conversation.canSend).toBe(true);
	isUp = true;
	await expect.poll(() => stopped).toHaveLength(1);
	await expect.poll(() => conversation.isIdle).toBe(true);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('a turn that was started elsewhere is followed', async () => {
	const { question, answer } = helloMessages();
	const before = { ...question, id: 'q0', content: { ...question.content, parts: ['Hi.'] } };
	let running: object | null = null;
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () =>
				Response.json({ ...detail('c1', before, { ...answer, id: 'a0' }), running }),
			'GET f/conversation/t9/events': () => playTurn('hello')
		}),
		'c1'
	);
	await conversation.load();
	running = { turn_exchange_id: 't9', message_id: answer.id };
	await conversation.handleTurnNews('t9');
	await expect.poll(() => conversation.turn?.answer?.status).toBe('finished_successfully');

	expect(conversation.message(answer.id)?.content.parts[0]).toBe('Hello there!');
	expect(conversation.isAnswering).toBe(false);
});

test('news about the turn that is read here causes no fetch', async () => {
	const conversation = openConversation(
		fakeApi({ 'POST f/conversation': (body) => playTurnFor('hello', body) }),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);

	await conversation.handleTurnNews('t1');
});

test('an answer that differs from the stored one is replaced and reported', async () => {
	const { question, answer } = helloMessages();
	const wrong = readStream('hello').replace('"Hel"', '"Hal"');
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () =>
				Response.json({
					...detail('c1', question, answer),
					running: isOver ? null : { turn_exchange_id: 't1', message_id: answer.id }
				}),
			'GET f/conversation/t1/events': () => {
				isOver = true;
				return new Response(wrong, { headers: { 'x-turn-exchange-id': 't1' } });
			}
		}),
		'c1'
	);
	let isOver = false;
	let numReports = 0;
	conversation.onmismatch = () => (numReports += 1);
	await conversation.load();
	await expect.poll(() => numReports).toBe(1);
	await expect.poll(() => conversation.isIdle).toBe(true);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('a stale fetch does not hide a newer answer', async () => {
	const { question, answer } = helloMessages();
	const fetched = [Promise.resolve(Response.json(detail('c1', question, answer)))];
	const stale = deferResponse();
	let numFetched = 0;
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => {
				numFetched += 1;
				return fetched.shift() ?? Response.json(detailWithTwoAnswers(question, answer));
			},
			'POST f/conversation': () => {
				stale.resolve(Response.json(detail('c1', question, answer)));
				return playVariant(question.id);
			}
		}),
		'c1'
	);
	await conversation.load();
	fetched.push(stale.response);
	const catchingUp = conversation.catchUp();
	await conversation.answerAgain(answer.id, OPTIONS);
	await catchingUp;
	expect(conversation.path[1]?.id).toBe('another-answer');
	await expect.poll(() => numFetched).toBe(3);
	await expect.poll(() => conversation.isIdle).toBe(true);

	expect(conversation.path[1]?.id).toBe('another-answer');
});

test('a fetch during a Send does not change the shown branch', async () => {
	const { question, answer } = helloMessages();
	const reply = deferResponse();
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			'POST f/conversation': () => reply.response
		}),
		'c1'
	);
	await conversation.load();
	const answering = conversation.answerAgain(answer.id, OPTIONS);
	await conversation.load();
	expect(conversation.path).toHaveLength(1);
	reply.resolve(playVariant(question.id));
	await answering;

	expect(conversation.path[1]?.id).toBe('another-answer');
});

test('a queued message that the server has stored no longer waits, and cannot be withdrawn', async () => {
	const { question, answer } = helloMessages();
	const outbox = new Outbox(localStorage, 'ada');
	outbox.put({ ...OUTGOING, id: question.id });
	const running = { turn_exchange_id: 't1', message_id: answer.id };
	const conversation = openConversation(
		fakeApi({
			'GET status': () => Response.json({}),
			'GET conversation/c1': () => Response.json({ ...detail('c1', question, answer), running }),
			'GET f/conversation/t1/events': () => new Promise(() => undefined)
		}),
		'c1'
	);
	await expect.poll(() => conversation.queued?.id ?? outbox.messages.length).toBe(question.id);
	await conversation.load();
	expect(conversation.isAnswering).toBe(true);
	expect(conversation.queued).toBeNull();
	conversation.unqueue();
	expect(conversation.draft).toBe('');

	await expect.poll(() => outbox.messages).toEqual([]);
	conversation.close();
});

test.each([
	['it is answered', () => playVariant(helloMessages().question.id)],
	['it is refused', () => refuse(400, 'No.')]
])('a turn started elsewhere during a Send causes a fetch when %s', async (_, reply) => {
	const { question, answer } = helloMessages();
	let numFetched = 0;
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => {
				numFetched += 1;
				return Response.json(detail('c1', question, answer));
			},
			'POST f/conversation': async () => {
				await conversation.handleTurnNews('t2');
				await conversation.handleTurnNews('of another tab');
				return reply();
			}
		}),
		'c1'
	);
	await conversation.load();
	await conversation.answerAgain(answer.id, OPTIONS);

	expect(numFetched).toBe(2);
});

test('news about our own turn causes no fetch, even before its id is known', async () => {
	const { question, answer } = helloMessages();
	let numFetched = 0;
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => {
				numFetched += 1;
				return Response.json(detail('c1', question, answer));
			},
			'POST f/conversation': async () => {
				await conversation.handleTurnNews('t2');
				return playVariant(question.id);
			}
		}),
		'c1'
	);
	await conversation.load();
	await conversation.answerAgain(answer.id, OPTIONS);

	expect(numFetched).toBe(1);
});

test('the conversation is not idle until the server has got the stop', async () => {
	const { question, answer } = helloMessages();
	const reply = deferResponse();
	let numAsked = 0;
	let isStopped = false;
	const running = { turn_exchange_id: 't1', message_id: answer.id };
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => Response.json({ ...detail('c1', question, answer), running }),
			'GET f/conversation/t1/events': () => {
				if (isStopped) return playTurn('hello');
				throw new TypeError('Failed to fetch');
			},
			'POST stop_conversation': () => {
				if (++numAsked === 1) throw new TypeError('Failed to fetch');
				return reply.response;
			}
		}),
		'c1'
	);
	await conversation.load();
	conversation.stop();
	await expect.poll(() => numAsked).toBe(2);
	expect(conversation.isAnswering).toBe(false);
	expect(conversation.isIdle).toBe(false);
	isStopped = true;
	reply.resolve(new Response(''));

	await expect.poll(() => conversation.isIdle).toBe(true);
});

function helloMessages(): { question: Message; answer: Message } {
	const [question, answer] = readExpected('hello').messages;
	if (question === undefined || answer === undefined) throw new Error('hello has two messages');
	return { question, answer };
}

/** A response that the test resolves. */
function deferResponse() {
	let resolve: (response: Response) => void = () => undefined;
	const response = new Promise<Response>((done) => (resolve = done));
	return { response, resolve };
}

/** A conversation with two answers to its question. */
function detailWithTwoAnswers(question: Message, answer: Message): object {
	const one = detail('c1', question, answer);
	const node = (id: string) => ({
		id,
		parent: question.id,
		children: [],
		message: { ...answer, id }
	});
	return {
		...one,
		current_node: 'another-answer',
		mapping: {
			[question.id]: {
				id: question.id,
				parent: null,
				children: [answer.id, 'another-answer'],
				message: question
			},
			[answer.id]: node(answer.id),
			'another-answer': node('another-answer')
		}
	};
}

function detail(id: string, question: Message, answer: Message): object {
	return {
		conversation_id: id,
		title: 'Say hello.',
		current_node: answer.id,
		mapping: {
			[question.id]: { id: question.id, parent: null, children: [answer.id], message: question },
			[answer.id]: { id: answer.id, parent: question.id, children: [], message: answer }
		},
		running: null
	};
}

/** The recorded turn as a continuation: without the question, below the answer it continues. */
function playContinuation(below: string): Response {
	const [question, answer] = readExpected('hello').messages;
	const text = buildVariantText()
		.replaceAll(answer?.id ?? '', 'the-rest')
		.replaceAll(question?.id ?? '', below);
	return new Response(text, { headers: { 'x-turn-exchange-id': 't3' } });
}

function recordedConversationId(): string {
	return /"conversation_id":"([\w-]+)"/.exec(readStream('hello'))?.[1] ?? '';
}

/** The recorded turn as a variant: without the question, and with another answer id. */
function playVariant(questionId: string): Response {
	const { question, answer } = helloMessages();
	const text = buildVariantText()
		.replaceAll(question.id, questionId)
		.replaceAll(answer.id, 'another-answer');
	return new Response(text, { headers: { 'x-turn-exchange-id': 't2' } });
}

function buildVariantText(): string {
	return readStream('hello')
		.split(/(?<=\n\n)/)
		.filter((frame) => !frame.includes('"role":"user"'))
		.map((frame) =>
			frame.replace('data: {"v":{"message"', 'data: {"p":"","o":"add","v":{"message"')
		)
		.join('')
		.replace(/\{"id":"[\w-]+","chars":10,"sha256":"\w+"\},/, '');
}

test('only the first message of a temporary chat carries the flag, and the chat stays temporary', async () => {
	const sent: SendBody[] = [];
	const conversation = openConversation(
		fakeApi({
			'POST f/conversation': (body) => {
				sent.push(body);
				return playTurnFor('hello', body);
			}
		}),
		null
	);
	conversation.isTemporary = true;
	conversation.draft = 'Say hello.';
	await conversation.send(OPTIONS);
	conversation.isTemporary = false;
	conversation.draft = 'Again.';
	await conversation.send(OPTIONS);

	expect(sent.map((body) => body.history_and_training_disabled)).toEqual([true, undefined]);
	expect(conversation.isTemporary).toBe(true);
});

const VERDICT = { call_id: 'k1', decision: 'once' as const, word: '' };

/** A conversation whose answer ended at a call that nobody decided in time. */
function detailWithUndecidedCall(): object {
	const { question, answer } = helloMessages();
	const call = { kind: 'tool_call', call_id: 'k1', tool: 'post', arguments: '{}', is_hosted: true };
	const calling = { ...answer, metadata: { ...answer.metadata, tool_calls: [call] } };
	const approval = { reason: 'writes', decision: 'expired', word: '' };
	const tool_result = { kind: 'tool_result', call_id: 'k1', output: '', failed: false, approval };
	const tool = {
		...answer,
		id: 'x1',
		author: { role: 'tool' },
		content: { content_type: 'text', parts: [''] },
		metadata: { parent_id: answer.id, tool_result }
	};
	return {
		...detail('c1', question, answer),
		current_node: 'x1',
		mapping: {
			[question.id]: { id: question.id, parent: null, children: [answer.id], message: question },
			[answer.id]: { id: answer.id, parent: question.id, children: ['x1'], message: calling },
			x1: { id: 'x1', parent: answer.id, children: [], message: tool }
		}
	};
}

test('a call that was not decided in time is decided by going on', async () => {
	const sent: SendBody[] = [];
	const conversation = openConversation(
		fakeApi({
			'GET conversation/c1': () => Response.json(detailWithUndecidedCall()),
			'POST f/conversation': (body) => {
				sent.push(body);
				return playContinuation('x1');
			}
		}),
		'c1'
	);
	await conversation.load();
	expect(conversation.question?.call.call_id).toBe('k1');
	await conversation.decide(VERDICT, { ...OPTIONS, features: ['letters'] });

	expect(sent).toMatchObject([
		{
			action: 'continue',
			parent_message_id: 'x1',
			verdicts: [VERDICT],
			system_hints: ['letters']
		}
	]);
	expect(conversation.question).toBeNull();
	expect(conversation.path.map(({ ids }) => ids.length)).toEqual([1, 3]);
});

test('a decision about another call sends nothing', async () => {
	const conversation = openConversation(
		fakeApi({ 'GET conversation/c1': () => Response.json(detailWithUndecidedCall()) }),
		'c1'
	);
	await conversation.load();
	await conversation.decide({ ...VERDICT, call_id: 'gone' }, OPTIONS);

	expect(conversation.problem).toBeNull();
	expect(conversation.isAnswering).toBe(false);
});

test('a form that nobody waits for is late', async () => {
	const conversation = openConversation(
		fakeApi({ 'POST f/conversation/form': () => refuse(409, 'Nothing waits for this form.') }),
		null
	);

	expect(await conversation.answerForm('f1', 'accept', { size: 's' })).toBe(false);
	expect(conversation.problem).toBeNull();
});

test('a form that could not be sent is a problem', async () => {
	const conversation = openConversation(
		fakeApi({ 'POST f/conversation/form': () => refuse(503, 'Not now.') }),
		null
	);
	await conversation.answerForm('f1', 'decline');

	expect(conversation.problem?.message).toBe('Not now.');
});
