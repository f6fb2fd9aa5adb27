/** What an answer is made of: texts, and calls of tools between them. Pure values. */
import type { Thought, ToolCall, ToolResult } from '$/api/events.gen';
import type { Message } from '$/api/wire';
import { isToolMessage } from '$/state/messageTree';

export type AnswerPart =
	| { kind: 'thought'; id: string; thought: Thought }
	| { kind: 'text'; id: string; text: string }
	| { kind: 'calls'; id: string; uses: ToolUse[] };

/** A call of a tool, with its result. */
export interface ToolUse {
	call: ToolCall;
	/** The message with the result; null while the model writes the call. */
	message: Message | null;
}

/** A person has to decide, or time is up, or the tool runs, or how it ended. */
export type UseState =
	| 'writing'
	| 'asking'
	| 'form'
	| 'running'
	| 'done'
	| 'failed'
	| 'invalid'
	| 'refused'
	| 'stopped'
	| 'interrupted';

/** A call that was decided after its turn had ended has two results: the newer one counts. */
export function listParts(messages: Message[]): AnswerPart[] {
	const results = new Map(
		messages.flatMap((message) => {
			const { tool_result } = message.metadata;
			return tool_result === undefined ? [] : [[tool_result.call_id, message] as const];
		})
	);
	const parts: AnswerPart[] = [];
	for (const message of messages) {
		if (isToolMessage(message)) continue;
		addThought(parts, message);
		addText(parts, message);
		addCalls(parts, message, results);
	}
	return parts;
}

function addThought(parts: AnswerPart[], { id, metadata }: Message): void {
	const { thought } = metadata;
	if (thought !== undefined) parts.push({ kind: 'thought', id: `${id} thought`, thought });
}

/** Neighbouring texts are one: a continuation goes on where the text was cut. */
function addText(parts: AnswerPart[], { id, content }: Message): void {
	const text = content.parts[0] ?? '';
	const last = parts.at(-1);
	if (last?.kind === 'text') parts[parts.length - 1] = { ...last, text: last.text + text };
	else if (text !== '') parts.push({ kind: 'text', id, text });
}

function addCalls(parts: AnswerPart[], message: Message, results: Map<string, Message>): void {
	const uses = (message.metadata.tool_calls ?? [])
		.map((call): ToolUse => ({ call, message: results.get(call.call_id) ?? null }))
		.filter((use) => isShown(use, message));
	const last = parts.at(-1);
	if (uses.length === 0) return;
	if (last?.kind === 'calls') {
		parts[parts.length - 1] = { ...last, uses: [...last.uses, ...uses] };
	} else {
		parts.push({ kind: 'calls', id: `${message.id} calls`, uses });
	}
}

/** Calls of earlier versions, and those that the caller of the API runs, have no result here. */
function isShown({ call, message }: ToolUse, answer: Message): boolean {
	return message !== null || call.is_hosted === true || answer.status === 'in_progress';
}

export function getResult({ message }: ToolUse): ToolResult | null {
	return message?.metadata.tool_result ?? null;
}

/** What the tool returned, or what it has reported so far. */
export function getOutput(use: ToolUse): string {
	return use.message?.content.parts[0] || (getResult(use)?.progress ?? '');
}

/** Whether the person has still to allow or refuse the call. */
export function isUndecided(use: ToolUse): boolean {
	const result = getResult(use);
	return result !== null && isUndecidedResult(result);
}

export function isUndecidedResult({ approval }: ToolResult): boolean {
	if (approval === undefined) return false;
	return approval.decision === undefined || approval.decision === 'expired';
}

/** `isRunning`: the turn of the call runs. */
export function findState(use: ToolUse, isRunning: boolean): UseState {
	const { message } = use;
	const result = getResult(use);
	if (message === null || result === null) return isRunning ? 'writing' : 'interrupted';
	const isStopped = message.metadata.finish_details?.reason === 'stopped';
	if (isUndecided(use) && !isStopped) return 'asking';
	if (message.status === 'in_progress') {
		if (!isRunning) return 'interrupted';
		return result.form !== undefined && result.form.action === undefined ? 'form' : 'running';
	}
	if (message.status !== 'finished_successfully') return isStopped ? 'stopped' : 'interrupted';
	if (result.approval?.decision === 'refused') return 'refused';
	if (result.is_invalid === true) return 'invalid';
	return result.failed ? 'failed' : 'done';
}

/** The call at the end of an answer that waits for the person, or null. */
export function findQuestionOfTool(messages: Message[], isRunning: boolean): ToolUse | null {
	const uses = listParts(messages).flatMap((part) => (part.kind === 'calls' ? part.uses : []));
	return (
		uses.find((use) => {
			const state = findState(use, isRunning);
			return state === 'form' || (state === 'asking' && isAtEnd(use, messages));
		}) ?? null
	);
}

/** After a call that was never decided, nothing of the answer follows but results of other calls. */
export function isAtEnd({ message }: ToolUse, messages: Message[]): boolean {
	const at = messages.findIndex(({ id }) => id === message?.id);
	return at >= 0 && messages.slice(at).every(isToolMessage);
}

/** Whether the message was stopped before the model. What stands below it is our explanation. */
export function isBlocked(question: Message | null, answers: Message[]): boolean {
	const isEnded = answers.at(-1)?.metadata.finish_details?.reason === 'blocked';
	return isEnded && question?.metadata.safety?.outcome === 'block';
}
