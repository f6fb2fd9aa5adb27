// @vitest-environment jsdom
import { beforeEach, expect, test } from 'vitest';
import { Api } from '$/api/client';
import type { Message, SendBody } from '$/api/wire';
import { Conversation, type Ask } from '$/state/conversation.svelte';
import { Delivery } from '$/state/delivery.svelte';
import { Drafts } from '$/state/drafts';
import type { Letter } from '$/state/letter';
import { Outbox } from '$/state/outbox';
import type { Pause } from '$/api/pause';
import { expected, sse } from '$/turn/recorded';

const ASK: Ask = { model: 'auto', sampling: {} };
const LETTER: Letter = {
	id: 'm1',
	text: 'Say hello.',
	conversationId: 'c1',
	parent: null,
	edits: null,
	ask: ASK,
	isWaiting: false
};
const drafts = new Drafts(localStorage, 'ada');
const atOnce = () => new Promise<void>((done) => setTimeout(done, 1));

beforeEach(() => localStorage.clear());

/** A conversation on a desk of its own, where nobody waits between tries. */
function opened(api: Api, id: string | null, pause: Pause = atOnce): Conversation {
	const delivery = new Delivery(api, new Outbox(localStorage, 'ada'), pause);
	const conversation = new Conversation(api, id, drafts, delivery, pause);
	delivery.isSaid = (letter) => conversation.holds(letter);
	delivery.isDue = () => conversation.isAtRest;
	delivery.onposted = (letter, turn) => void conversation.watch(letter, turn);
	delivery.onsettled = (letter, fate) => conversation.settle(letter, fate);
	delivery.begin();
	return conversation;
}

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

const refused = (status: number, message: string, code: string | null = null) =>
	Response.json({ error: { message, code } }, { status });

const texts = (conversation: Conversation) =>
	conversation.path.map(({ id }) => conversation.message(id)?.content.parts[0]);

/** What the page sends has an id of its own making; the recorded turn has another. */
function withRecordedId(name: string, body: SendBody): Response {
	const recorded = expected(name).messages[0]?.id ?? '';
	const text = sse(name).replaceAll(recorded, body.messages[0]?.id ?? '');
	return new Response(text, { headers: { 'x-turn-exchange-id': 't1' } });
}

test('a message that is sent is answered below it', async () => {
	const conversation = opened(
		api({ 'POST f/conversation': (body) => withRecordedId('hello', body) }),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.draft).toBe('');
	expect(conversation.id).not.toBeNull();
	expect(conversation.title).toBe('Say hello.');
	expect(conversation.isAnswering).toBe(false);
});

test('a message the server refuses goes back to where it was written', async () => {
	const conversation = opened(
		api({ 'POST f/conversation': () => refused(400, 'That is too long.') }),
		null
	);
	conversation.draft = 'Hello?';
	await conversation.send(ASK);

	expect(conversation.draft).toBe('Hello?');
	expect(conversation.problem).toMatchObject({ message: 'That is too long.' });
	expect(conversation.path).toEqual([]);
});

test('a message that is tried again keeps its id, so that it is said once', async () => {
	const ids: (string | undefined)[] = [];
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				return ids.length === 1 ? refused(400, 'Not now.') : withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);
	await conversation.send(ASK);

	expect(ids[0]).toBeDefined();
	expect(ids[1]).toBe(ids[0]);
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('a message whose answer was lost is sent again as it was, and the answer is read', async () => {
	const sent: SendBody[] = [];
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				sent.push(body);
				if (sent.length === 1) throw new TypeError('Failed to fetch');
				return withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);

	expect(sent).toHaveLength(2);
	expect(sent[1]).toEqual(sent[0]);
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.queued).toBeNull();
});

test('what is asked for differently is another message', async () => {
	const ids: (string | undefined)[] = [];
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				return refused(400, 'No.');
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);
	await conversation.send({ ...ASK, model: 'another' });

	expect(ids[1]).not.toBe(ids[0]);
});

test('an empty draft is not sent', async () => {
	const conversation = opened(api({}), null);
	conversation.draft = '  \n ';
	await conversation.send(ASK);

	expect(conversation.path).toEqual([]);
});

test('what is said is what was written, with the room around it', async () => {
	const said: (string | undefined)[] = [];
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				said.push(body.messages[0]?.content.parts[0]);
				return withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = '    indented\n\tcode\n';
	await conversation.send(ASK);

	expect(said).toEqual(['    indented\n\tcode\n']);
});

test('opening a conversation that is being answered goes on with the answer', async () => {
	const { question, answer } = hello();
	const conversation = opened(
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
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				sent.push(body);
				return body.action === 'next'
					? withRecordedId('hello', body)
					: answeredAnew(sent[0]?.messages[0]?.id ?? '');
			},
			[`PATCH conversation/${conversationId()}`]: () => Response.json({ success: true })
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);
	const first = conversation.path[1]?.id ?? '';
	await conversation.answerAgain(first, ASK);

	expect(sent[1]).toMatchObject({ action: 'variant', messages: [] });
	expect(sent[1]?.parent_message_id).toBe(sent[0]?.messages[0]?.id);
	expect(conversation.path[1]?.alternatives).toHaveLength(2);
	expect(conversation.path[1]?.id).not.toBe(first);
	await conversation.show(first);
	expect(conversation.path[1]?.id).toBe(first);
});

test('a conversation that is not there is told to be missing', async () => {
	const conversation = opened(
		api({ 'GET conversation/c1': () => refused(404, 'There is no such conversation.') }),
		'c1'
	);
	await conversation.load();

	expect(conversation.state).toBe('missing');
	expect(conversation.problem).toMatchObject({ message: 'There is no such conversation.' });
});

test('a sampling that was chosen goes with the message', async () => {
	const sent: SendBody[] = [];
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				sent.push(body);
				return withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send({ model: 'small', sampling: { temperature: 0.2 } });

	expect(sent[0]).toMatchObject({ model: 'small', sampling: { temperature: 0.2 } });
});

test('a message that finds no server waits, and is said once when there is one', async () => {
	const ids: (string | undefined)[] = [];
	let isUp = false;
	const conversation = opened(
		api({
			'GET status': () => {
				isUp = true;
				return Response.json({});
			},
			'POST f/conversation': (body) => {
				ids.push(body.messages[0]?.id);
				if (!isUp) throw new TypeError('Failed to fetch');
				return withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);
	await expect.poll(() => texts(conversation)).toEqual(['Say hello.', 'Hello there!']);

	expect(new Set(ids).size).toBe(1);
	expect(conversation.queued).toBeNull();
});

test('what is being written is there again after a reload', () => {
	const conversation = opened(api({}), 'c1');
	conversation.draft = 'Half a thou';
	conversation.leave();

	expect(opened(api({}), 'c1').draft).toBe('Half a thou');
	expect(opened(api({}), 'c2').draft).toBe('');
});

test('a draft leaves the storage when its chat becomes a temporary one', () => {
	const conversation = opened(api({}), null);
	conversation.draft = 'Between us.';
	conversation.leave();
	expect(drafts.of(null)).toBe('Between us.');

	const temporary = opened(api({}), null);
	temporary.isTemporary = true;

	expect(temporary.draft).toBe('Between us.');
	expect(drafts.of(null)).toBe('');
});

test('what is written in a temporary chat that is opened again is kept nowhere', async () => {
	const { question, answer } = hello();
	const shown = { ...detail('c1', question, answer), is_temporary: true };
	const conversation = opened(api({ 'GET conversation/c1': () => Response.json(shown) }), 'c1');
	await conversation.load();
	conversation.draft = 'Between us.';
	conversation.leave();

	expect(drafts.of('c1')).toBe('');
});

test('what is written in a new chat while it is answered moves with it', async () => {
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				conversation.draft = 'And then?';
				return withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);
	conversation.leave();

	expect(drafts.of(null)).toBe('');
	expect(drafts.of(conversationId())).toBe('And then?');
});

test('an answer that goes on reads as one with what was there', async () => {
	const { question, answer } = hello();
	const sent: SendBody[] = [];
	const conversation = opened(
		api({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			'POST f/conversation': (body) => {
				sent.push(body);
				return continuation(answer.id);
			}
		}),
		'c1'
	);
	await conversation.load();
	await conversation.goOn(answer.id, ASK);

	expect(sent[0]).toMatchObject({ action: 'continue', parent_message_id: answer.id, messages: [] });
	expect(conversation.path.map(({ ids }) => ids.length)).toEqual([1, 2]);
	const place = conversation.path[1];
	expect(place && conversation.read(place)?.content.parts[0]).toBe('Hello there!Hello there!');
});

test('a rating is shown at once, and taken back if the server does not take it', async () => {
	const { question, answer } = hello();
	const conversation = opened(
		api({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			[`PUT conversation/c1/messages/${answer.id}/feedback`]: () => refused(503, 'Not now.')
		}),
		'c1'
	);
	await conversation.load();
	const rated = conversation.rate(answer.id, { rating: 'up', reason: null, text: '' });
	expect(conversation.message(answer.id)?.metadata.feedback?.rating).toBe('up');
	await rated;

	expect(conversation.message(answer.id)?.metadata.feedback).toBeUndefined();
	expect(conversation.problem?.message).toBe('Not now.');
});

test('a conversation that cannot be reached opens by itself when it can', async () => {
	const { question, answer } = hello();
	let tries = 0;
	const conversation = opened(
		api({
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

test('nothing can be said before what was said is known', async () => {
	const { question, answer } = hello();
	const conversation = opened(
		api({ 'GET conversation/c1': () => Response.json(detail('c1', question, answer)) }),
		'c1'
	);
	const loaded = conversation.load();
	conversation.draft = 'Too early.';
	await conversation.send(ASK);
	expect(conversation.canSay).toBe(false);
	expect(conversation.draft).toBe('Too early.');
	await loaded;

	expect(conversation.canSay).toBe(true);
});

test('an edit the server refuses stays open, beside what was said before', async () => {
	const { question, answer } = hello();
	const conversation = opened(
		api({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			'POST f/conversation': () => refused(400, 'Too long.')
		}),
		'c1'
	);
	await conversation.load();
	conversation.editing = { id: question.id, text: 'Say goodbye.', problem: null };
	await conversation.edit(ASK);

	expect(conversation.editing).toMatchObject({
		id: question.id,
		text: 'Say goodbye.',
		problem: { message: 'Too long.' }
	});
	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
	expect(conversation.draft).toBe('');
	expect(conversation.problem).toBeNull();
});

test('an answer that is stopped while nobody can be told ends here, and is read again', async () => {
	const { question, answer } = hello();
	const stopped: unknown[] = [];
	let isUp = false;
	let opens = 0;
	const conversation = opened(
		api({
			'GET conversation/c1': () => {
				if (++opens > 1 && !isUp) throw new TypeError('Failed to fetch');
				const running = stopped.length > 0 ? null : { turn_exchange_id: 't1', message_id: 'a' };
				return Response.json({ ...detail('c1', question, answer), running });
			},
			'GET f/conversation/t1/events': () => {
				if (isUp) return played('hello');
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
	expect(conversation.canSay).toBe(true);
	isUp = true;
	await expect.poll(() => stopped).toHaveLength(1);
	await expect.poll(() => conversation.isAtRest).toBe(true);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('a turn that began elsewhere is followed as it is written', async () => {
	const { question, answer } = hello();
	const before = { ...question, id: 'q0', content: { ...question.content, parts: ['Hi.'] } };
	let running: object | null = null;
	const conversation = opened(
		api({
			'GET conversation/c1': () =>
				Response.json({ ...detail('c1', before, { ...answer, id: 'a0' }), running }),
			'GET f/conversation/t9/events': () => played('hello')
		}),
		'c1'
	);
	await conversation.load();
	running = { turn_exchange_id: 't9', message_id: answer.id };
	await conversation.hearOf('t9');
	await expect.poll(() => conversation.turn?.answer?.status).toBe('finished_successfully');

	expect(conversation.message(answer.id)?.content.parts[0]).toBe('Hello there!');
	expect(conversation.isAnswering).toBe(false);
});

test('the turn that is read here is no news', async () => {
	const conversation = opened(
		api({ 'POST f/conversation': (body) => withRecordedId('hello', body) }),
		null
	);
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);

	await conversation.hearOf('t1');
});

test('an answer that is not the stored one is replaced by it, and that is reported', async () => {
	const { question, answer } = hello();
	const wrong = sse('hello').replace('"Hel"', '"Hal"');
	const conversation = opened(
		api({
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
	conversation.ondiffers = () => (numReports += 1);
	await conversation.load();
	await expect.poll(() => numReports).toBe(1);
	await expect.poll(() => conversation.isAtRest).toBe(true);

	expect(texts(conversation)).toEqual(['Say hello.', 'Hello there!']);
});

test('what was being fetched when something was asked for does not hide the answer', async () => {
	const { question, answer } = hello();
	const fetched = [Promise.resolve(Response.json(detail('c1', question, answer)))];
	const stale = later();
	let numFetched = 0;
	const conversation = opened(
		api({
			'GET conversation/c1': () => {
				numFetched += 1;
				return fetched.shift() ?? Response.json(twoAnswers(question, answer));
			},
			'POST f/conversation': () => {
				stale.come(Response.json(detail('c1', question, answer)));
				return answeredAnew(question.id);
			}
		}),
		'c1'
	);
	await conversation.load();
	fetched.push(stale.response);
	const caughtUp = conversation.catchUp();
	await conversation.answerAgain(answer.id, ASK);
	await caughtUp;
	expect(conversation.path[1]?.id).toBe('another-answer');
	await expect.poll(() => numFetched).toBe(3);
	await expect.poll(() => conversation.isAtRest).toBe(true);

	expect(conversation.path[1]?.id).toBe('another-answer');
});

test('what is fetched while it is answered leaves the branch that is shown', async () => {
	const { question, answer } = hello();
	const reply = later();
	const conversation = opened(
		api({
			'GET conversation/c1': () => Response.json(detail('c1', question, answer)),
			'POST f/conversation': () => reply.response
		}),
		'c1'
	);
	await conversation.load();
	const answered = conversation.answerAgain(answer.id, ASK);
	await conversation.load();
	expect(conversation.path).toHaveLength(1);
	reply.come(answeredAnew(question.id));
	await answered;

	expect(conversation.path[1]?.id).toBe('another-answer');
});

test('a letter that is in the conversation already does not wait, and cannot be taken back', async () => {
	const { question, answer } = hello();
	const outbox = new Outbox(localStorage, 'ada');
	outbox.keep({ ...LETTER, id: question.id });
	const running = { turn_exchange_id: 't1', message_id: answer.id };
	const conversation = opened(
		api({
			'GET status': () => Response.json({}),
			'GET conversation/c1': () => Response.json({ ...detail('c1', question, answer), running }),
			'GET f/conversation/t1/events': () => new Promise(() => undefined)
		}),
		'c1'
	);
	await expect.poll(() => conversation.queued?.id ?? outbox.letters.length).toBe(question.id);
	await conversation.load();
	expect(conversation.isAnswering).toBe(true);
	expect(conversation.queued).toBeNull();
	conversation.unqueue();
	expect(conversation.draft).toBe('');

	await expect.poll(() => outbox.letters).toEqual([]);
	conversation.leave();
});

test.each([
	['it is answered', () => answeredAnew(hello().question.id)],
	['it is refused', () => refused(400, 'No.')]
])('a turn that began elsewhere during a Send is shown when %s', async (_, reply) => {
	const { question, answer } = hello();
	let numFetched = 0;
	const conversation = opened(
		api({
			'GET conversation/c1': () => {
				numFetched += 1;
				return Response.json(detail('c1', question, answer));
			},
			'POST f/conversation': async () => {
				await conversation.hearOf('t2');
				await conversation.hearOf('of another tab');
				return reply();
			}
		}),
		'c1'
	);
	await conversation.load();
	await conversation.answerAgain(answer.id, ASK);

	expect(numFetched).toBe(2);
});

test('our own turn is no news, although it was heard of before it had a name here', async () => {
	const { question, answer } = hello();
	let numFetched = 0;
	const conversation = opened(
		api({
			'GET conversation/c1': () => {
				numFetched += 1;
				return Response.json(detail('c1', question, answer));
			},
			'POST f/conversation': async () => {
				await conversation.hearOf('t2');
				return answeredAnew(question.id);
			}
		}),
		'c1'
	);
	await conversation.load();
	await conversation.answerAgain(answer.id, ASK);

	expect(numFetched).toBe(1);
});

test('nothing goes out before the server knows of a stop', async () => {
	const { question, answer } = hello();
	const told = later();
	let numAsked = 0;
	let isStopped = false;
	const running = { turn_exchange_id: 't1', message_id: answer.id };
	const conversation = opened(
		api({
			'GET conversation/c1': () => Response.json({ ...detail('c1', question, answer), running }),
			'GET f/conversation/t1/events': () => {
				if (isStopped) return played('hello');
				throw new TypeError('Failed to fetch');
			},
			'POST stop_conversation': () => {
				if (++numAsked === 1) throw new TypeError('Failed to fetch');
				return told.response;
			}
		}),
		'c1'
	);
	await conversation.load();
	conversation.stop();
	await expect.poll(() => numAsked).toBe(2);
	expect(conversation.isAnswering).toBe(false);
	expect(conversation.isAtRest).toBe(false);
	isStopped = true;
	told.come(new Response(''));

	await expect.poll(() => conversation.isAtRest).toBe(true);
});

function hello(): { question: Message; answer: Message } {
	const [question, answer] = expected('hello').messages;
	if (question === undefined || answer === undefined) throw new Error('hello has two messages');
	return { question, answer };
}

/** A response that comes when the test says so. */
function later() {
	let come: (response: Response) => void = () => undefined;
	const response = new Promise<Response>((resolve) => (come = resolve));
	return { response, come };
}

/** The first answer, and the one that was asked for after it. */
function twoAnswers(question: Message, answer: Message): object {
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

/** The recorded turn as the rest of an answer: no question, and below what was there. */
function continuation(below: string): Response {
	const [question, answer] = expected('hello').messages;
	const text = variantText()
		.replaceAll(answer?.id ?? '', 'the-rest')
		.replaceAll(question?.id ?? '', below);
	return new Response(text, { headers: { 'x-turn-exchange-id': 't3' } });
}

function conversationId(): string {
	return /"conversation_id":"([\w-]+)"/.exec(sse('hello'))?.[1] ?? '';
}

/** The recorded turn again, as a variant: no question, and an answer with an id of its own. */
function answeredAnew(questionId: string): Response {
	const { question, answer } = hello();
	const text = variantText()
		.replaceAll(question.id, questionId)
		.replaceAll(answer.id, 'another-answer');
	return new Response(text, { headers: { 'x-turn-exchange-id': 't2' } });
}

function variantText(): string {
	return sse('hello')
		.split(/(?<=\n\n)/)
		.filter((frame) => !frame.includes('"role":"user"'))
		.map((frame) =>
			frame.replace('data: {"v":{"message"', 'data: {"p":"","o":"add","v":{"message"')
		)
		.join('')
		.replace(/\{"id":"[\w-]+","chars":10,"sha256":"\w+"\},/, '');
}

test('a temporary chat is chosen before it begins, and said with its first message alone', async () => {
	const sent: SendBody[] = [];
	const conversation = opened(
		api({
			'POST f/conversation': (body) => {
				sent.push(body);
				return withRecordedId('hello', body);
			}
		}),
		null
	);
	conversation.isTemporary = true;
	conversation.draft = 'Say hello.';
	await conversation.send(ASK);
	conversation.isTemporary = false;
	conversation.draft = 'Again.';
	await conversation.send(ASK);

	expect(sent.map((body) => body.history_and_training_disabled)).toEqual([true, undefined]);
	expect(conversation.isTemporary).toBe(true);
});
