/** What a turn's recorded log tells about it. Everything here was recorded; nothing is guessed. */
import type { Event, PromptEncoded, Source, Stamped, Token, Usage } from '$/api/events.gen';
import { fold } from '$/turn/apply';

export interface Step {
	seq: number;
	atMs: number;
	title: string;
	detail: string;
}

export interface Look {
	steps: Step[];
	prompt: PromptEncoded | null;
	/** Tokens of the prompt by where they came from, in order of first appearance. */
	sources: { source: Source; numTokens: number }[];
	tokens: Token[];
	usage: Usage | null;
}

export function lookAt(log: Stamped[]): Look {
	const events = log.map(({ event }) => event);
	const prompt = events.find((event) => event.type === 'PromptEncoded') ?? null;
	return {
		steps: steps(log),
		prompt,
		sources: bySource(prompt),
		tokens: events.flatMap((event) => (event.type === 'TextArrived' ? event.tokens : [])),
		usage: fold(events).messages.at(-1)?.usage ?? null
	};
}

/** Text that arrives in a row is one step: its words are shown elsewhere. */
function steps(log: Stamped[]): Step[] {
	return log
		.filter(({ event }, i) => event.type !== 'TextArrived' || !isText(log[i - 1]))
		.map(({ seq, at_ms, event }) => ({ seq, atMs: at_ms, ...told(event) }));
}

const isText = (stamped: Stamped | undefined) => stamped?.event.type === 'TextArrived';

function bySource(prompt: PromptEncoded | null): Look['sources'] {
	const counts = new Map<Source, number>();
	for (const [source, , numTokens] of prompt?.spans ?? []) {
		counts.set(source, (counts.get(source) ?? 0) + numTokens);
	}
	return [...counts].map(([source, numTokens]) => ({ source, numTokens }));
}

function told(event: Event): Pick<Step, 'title' | 'detail'> {
	switch (event.type) {
		case 'TurnStarted':
			return { title: 'Turn started', detail: event.model };
		case 'TurnAccepted':
			return { title: 'Message stored', detail: '' };
		case 'MessageAdded':
			return { title: 'Message added', detail: event.message.role };
		case 'ContextBuilt': {
			const { sections } = event;
			const listed = sections.map(({ source, num_chars }) => `${source} ${num_chars}`).join(', ');
			return { title: 'Context built', detail: `characters: ${listed}` };
		}
		case 'PromptEncoded':
			return { title: 'Prompt encoded', detail: encoded(event) };
		case 'AnswerStarted':
			return { title: 'Answer started', detail: event.model };
		case 'PromptRead': {
			const { num_cached_tokens: cached, num_evaluated_tokens: read } = event;
			const waited = `waited ${ms(event.queued_ms)}, read in ${ms(event.prefill_ms)}`;
			return { title: 'Prompt read', detail: `${cached} tokens cached, ${read} read, ${waited}` };
		}
		case 'TextArrived':
			return { title: 'First words', detail: '' };
		case 'ToolCallArrived':
			return { title: 'Tool asked for', detail: event.call.tool };
		case 'AnswerFinished': {
			const { num_output_tokens: count, decode_ms } = event.usage;
			const speed = decode_ms > 0 ? `, ${((count / decode_ms) * 1000).toFixed(1)} per second` : '';
			return { title: 'Answer finished', detail: `${event.ending}, ${count} tokens${speed}` };
		}
		case 'TitleChosen':
			return { title: 'Title chosen', detail: event.title };
		case 'TurnFinished':
			return { title: 'Turn finished', detail: event.ending };
		case 'TurnFailed':
			return { title: 'Turn failed', detail: event.message };
		default:
			return event satisfies never;
	}
}

function encoded(event: PromptEncoded): string {
	const count = `${event.is_exact ? '' : 'about '}${event.num_tokens} tokens`;
	const dropped = event.num_dropped_messages;
	const left = dropped === 0 ? '' : `, ${dropped} oldest messages left out`;
	return `${count} of a window of ${event.num_window_tokens}${left}`;
}

export function ms(value: number): string {
	return value < 1000
		? `${value.toFixed(value < 10 ? 1 : 0)} ms`
		: `${(value / 1000).toFixed(2)} s`;
}
