/** Builds the inspector's report from the recorded events of a turn. */
import type { Event, PromptEncoded, Source, Stamped, Token, Usage } from '$/api/events.gen';
import { sumUsage } from '$/state/messageTree';
import { fold } from '$/turn/apply';
import type { InspectorWords } from '$/words/inspector';

export interface Step {
	seq: number;
	atMs: number;
	title: string;
	detail: string;
}

export interface TurnReport {
	steps: Step[];
	prompt: PromptEncoded | null;
	/** Prompt tokens by source, in the order of the prompt. */
	sources: { source: Source; numTokens: number }[];
	tokens: Token[];
	usage: Usage | null;
}

type StepText = Pick<Step, 'title' | 'detail'>;

export function buildTurnReport(log: Stamped[], t: InspectorWords): TurnReport {
	const events = log.map(({ event }) => event);
	const prompt = events.find((event) => event.type === 'PromptEncoded') ?? null;
	return {
		steps: buildSteps(log, t),
		prompt,
		sources: countBySource(prompt),
		tokens: events.flatMap((event) => (event.type === 'TextArrived' ? event.tokens : [])),
		usage: sumUsage(fold(events).messages.flatMap(({ usage }) => usage ?? []))
	};
}

/** Consecutive texts are one step. The arguments of a call are no step of their own. */
function buildSteps(log: Stamped[], t: InspectorWords): Step[] {
	return log
		.filter(({ event }, i) => !MORE.has(event.type) || !isOutput(log[i - 1]))
		.map(({ seq, at_ms, event }) => ({ seq, atMs: at_ms, ...describeEvent(event, t) }));
}

const MORE = new Set<Event['type']>(['TextArrived', 'ToolArgumentsArrived', 'ToolProgressed']);
/** Of what a tool returned. The conversation has all of it. */
const MAX_OUTPUT_CHARS = 500;

const isOutput = (stamped: Stamped | undefined) =>
	stamped !== undefined &&
	(MORE.has(stamped.event.type) || stamped.event.type === 'ToolCallStarted');

function countBySource(prompt: PromptEncoded | null): TurnReport['sources'] {
	const counts = new Map<Source, number>();
	for (const [source, , numTokens] of prompt?.spans ?? []) {
		counts.set(source, (counts.get(source) ?? 0) + numTokens);
	}
	return [...counts].map(([source, numTokens]) => ({ source, numTokens }));
}

function describeEvent(event: Event, t: InspectorWords): StepText {
	const { step, source, role, ending, dropReason, safetyOutcome } = t;
	const { approvalReason, approvalDecision, formAction } = t;
	switch (event.type) {
		case 'TurnStarted':
			return { title: step.turnStarted, detail: event.model };
		case 'TurnAccepted':
			return { title: step.turnAccepted, detail: '' };
		case 'MessageAdded':
			return { title: step.messageAdded, detail: role[event.message.role] };
		case 'ContextBuilt': {
			const sections = event.sections.map(
				(section) => `${source[section.source]} ${section.num_chars}`
			);
			return { title: step.contextBuilt, detail: step.characters(sections.join(', ')) };
		}
		case 'PromptEncoded': {
			const { num_tokens, is_exact, num_window_tokens, num_dropped_messages: dropped } = event;
			const counted = step.encoded(num_tokens, is_exact, num_window_tokens);
			return { title: step.promptEncoded, detail: join(counted, dropped && step.leftOut(dropped)) };
		}
		case 'AnswerStarted':
			return { title: step.answerStarted, detail: event.model };
		case 'AnswerDelayed': {
			const reason = event.reason === 'queue' ? step.ahead(event.num_ahead) : step.modelLoading;
			return { title: step.answerDelayed, detail: reason };
		}
		case 'PromptWarmed':
			return {
				title: step.promptWarmed,
				detail: step.warmed(event.num_new_tokens ?? event.num_tokens, event.read_ms)
			};
		case 'PromptRead': {
			const read = step.read(event.num_cached_tokens, event.num_evaluated_tokens);
			const waited = step.waited(event.queued_ms, event.prefill_ms);
			return { title: step.promptRead, detail: join(read, waited) };
		}
		case 'TextArrived':
			return { title: step.firstWords, detail: '' };
		case 'MessageScreened':
		case 'AnswerGuarded': {
			const { outcome, reasons = [], took_ms = 0 } = event.screening;
			const { messageScreened, answerGuarded } = step;
			return {
				title: event.type === 'MessageScreened' ? messageScreened : answerGuarded,
				detail: join(
					safetyOutcome[outcome],
					reasons.length > 0 && reasons.map(({ name }) => name).join(', '),
					took_ms > 0 && `${took_ms.toFixed(1)} ms`
				)
			};
		}
		case 'MemoriesChanged':
			return { title: step.memoriesChanged, detail: String(event.changed.length) };
		case 'ToolCallStarted':
			return { title: step.toolCallStarted, detail: event.tool };
		case 'ToolArgumentsArrived':
			return { title: step.toolArguments, detail: event.text };
		case 'ToolCallArrived':
			return { title: step.toolAskedFor, detail: event.call.tool };
		case 'ToolCallDropped':
			return { title: step.toolCallDropped, detail: dropReason[event.reason] };
		case 'ToolReturned':
			return {
				title: step.toolReturned,
				detail: event.result.output.slice(0, MAX_OUTPUT_CHARS)
			};
		case 'ToolStarted':
			return { title: step.toolStarted, detail: event.result.tool ?? '' };
		case 'ToolProgressed':
			return { title: step.toolProgressed, detail: '' };
		case 'ApprovalRequested':
			return { title: step.approvalRequested, detail: approvalReason[event.reason] };
		case 'ApprovalDecided':
			return { title: step.approvalDecided, detail: approvalDecision[event.decision] };
		case 'FormShown':
			return { title: step.formShown, detail: event.form.message };
		case 'FormAnswered':
			return { title: step.formAnswered, detail: formAction[event.action] };
		case 'AnswerFinished': {
			const { num_output_tokens: count, decode_ms } = event.usage;
			const speed = decode_ms > 0 && step.speed((count / decode_ms) * 1000);
			const written = join(ending[event.ending], step.written(count), speed);
			return {
				title: step.answerFinished,
				detail: join(written, describeUncertainty(event.usage, step))
			};
		}
		case 'TitleChosen':
			return { title: step.titleChosen, detail: event.title };
		case 'TurnFinished':
			return { title: step.turnFinished, detail: ending[event.ending] };
		case 'TurnFailed':
			return { title: step.turnFailed, detail: event.message };
		default:
			return event satisfies never;
	}
}

/** The entropy and surprisal of the answer, if known. */
function describeUncertainty(usage: Usage, step: InspectorWords['step']): string | false {
	const { entropy, surprisal, num_searched_tokens: searched } = usage;
	const text = join(
		searched !== undefined && step.searched(searched),
		entropy !== undefined && step.entropy(entropy),
		surprisal !== undefined && step.surprisal(surprisal)
	);
	return text !== '' && text;
}

function join(...parts: (string | false | 0)[]): string {
	return parts.filter((part) => part !== false && part !== 0).join(', ');
}
