/** A conversation is a tree: every edit and every other answer is a branch. Pure values. */
import type { Seen, Usage } from '$/api/events.gen';
import type { ConversationNode, Feedback, Message } from '$/api/wire';
import { isHidden } from '$/turn/frameDecoder';

export type Tree = ReadonlyMap<string, ConversationNode>;

/** One entry of the path from the root to a leaf. */
export interface PathEntry {
	/** The message, or the first of an answer. */
	id: string;
	/** One message, or all of an answer: what the model said, what tools returned, and what
	 * continued it. They are shown as one. */
	ids: string[];
	/** The sibling branches, including this message. */
	alternatives: string[];
}

export const EMPTY: Tree = new Map();

/** Builds the tree without hidden messages: their children move up. */
export function buildTree(mapping: Record<string, ConversationNode>): Tree {
	const hiddenNode = (id: string | null) => {
		const node = mapping[id ?? ''];
		return node?.message != null && isHidden(node.message) ? node : undefined;
	};
	const shownParent = (id: string | null): string | null => {
		const node = hiddenNode(id);
		return node === undefined ? id : shownParent(node.parent);
	};
	const shownIds = (id: string): string[] => hiddenNode(id)?.children.flatMap(shownIds) ?? [id];
	const shown = Object.values(mapping).filter(({ id }) => hiddenNode(id) === undefined);
	return new Map(
		shown.map((node) => {
			const { id, parent, children } = node;
			const nodes = { parent: shownParent(parent), children: children.flatMap(shownIds) };
			return [id, { ...node, ...nodes }];
		})
	);
}

/** Adds or replaces a message. */
export function addMessage(tree: Tree, message: Message): Tree {
	const result = new Map(tree);
	const known = result.get(message.id);
	const parentId = known?.parent ?? message.metadata.parent_id ?? null;
	const children = known?.children ?? [];
	result.set(message.id, { id: message.id, parent: parentId, children, message });
	const parent = parentId === null ? undefined : result.get(parentId);
	if (parent !== undefined && !parent.children.includes(message.id)) {
		result.set(parent.id, { ...parent, children: [...parent.children, message.id] });
	}
	return result;
}

/** The path from the root through a message to the newest leaf below it, or to it if it `isLast`. */
export function findPath(tree: Tree, id: string | null, isLast: boolean): PathEntry[] {
	const nodes: ConversationNode[] = [];
	for (let node = getNode(tree, id); node?.message != null; node = getNode(tree, node.parent)) {
		nodes.push(node);
	}
	nodes.reverse();
	let last = isLast ? undefined : getNode(tree, id);
	while ((last = getNode(tree, last?.children.at(-1) ?? null)) !== undefined) nodes.push(last);
	return toEntries(tree, nodes);
}

/** The last message of a path: the parent of the next one. */
export function getLeafId(path: PathEntry[]): string | null {
	return path.at(-1)?.ids.at(-1) ?? null;
}

/** The question of an answer, above all its messages. */
export function findQuestion(tree: Tree, answerId: string): string | null {
	let node = getNode(tree, answerId);
	while (isAnswer(node)) node = getNode(tree, node?.parent ?? null);
	return node?.message == null ? null : node.id;
}

/** Null removes the feedback. */
export function setFeedback(message: Message, feedback: Feedback | null): Message {
	const metadata = { ...message.metadata };
	if (feedback === null) delete metadata.feedback;
	else metadata.feedback = feedback;
	return { ...message, metadata };
}

/**
 * Joins the messages of an answer: its text is what the model said. The result ends as the last
 * message does, which is a tool's if the answer was cut off there.
 */
export function joinMessages(messages: Message[]): Message | null {
	const [first, last] = [messages[0], messages.at(-1)];
	if (first === undefined || last === undefined) return null;
	if (first === last && !isToolMessage(first)) return first;
	const answers = messages.filter((message) => !isToolMessage(message));
	const usages = answers.flatMap(({ metadata }) =>
		metadata.usage === undefined ? [] : { turnId: metadata.turn_exchange_id, usage: metadata.usage }
	);
	const seen = answers.flatMap(({ metadata }) => metadata.seen ?? []);
	const feedback = answers.at(-1)?.metadata.feedback;
	return {
		...last,
		author: { role: 'assistant' },
		create_time: first.create_time,
		content: { ...last.content, parts: [joinTexts(messages)] },
		metadata: {
			...last.metadata,
			...(usages.length === 0 ? {} : { usage: usages.reduce(joinUsage).usage }),
			...(seen.length === 0 ? {} : { seen: seen.reduce(joinSeen) }),
			...(feedback === undefined ? {} : { feedback })
		}
	};
}

export function isToolMessage({ author }: Message): boolean {
	return author.role === 'tool';
}

/** A continuation goes on where the text was cut. What is said after tools is a paragraph of its own. */
function joinTexts(messages: Message[]): string {
	let text = '';
	let isAfterTool = false;
	for (const message of messages) {
		const more = isToolMessage(message) ? '' : (message.content.parts[0] ?? '');
		if (more !== '') {
			text += isAfterTool && text !== '' ? `\n\n${more}` : more;
			isAfterTool = false;
		}
		isAfterTool ||= isToolMessage(message);
	}
	return text;
}

/** Memories and changes add up; dropped messages are those of the last part. */
function joinSeen(earlier: Seen, later: Seen): Seen {
	return {
		...later,
		memories: [...new Set([...earlier.memories, ...later.memories])],
		changed: [...earlier.changed, ...later.changed]
	};
}

interface TurnUsage {
	turnId: string | undefined;
	usage: Usage;
}

/**
 * Output adds up, and so does the input of the rounds of one turn. A continuation reads what was
 * read before: its input and waiting are those of the first turn. Truncation is that of the last.
 */
function joinUsage(before: TurnUsage, after: TurnUsage): TurnUsage {
	const [earlier, later] = [before.usage, after.usage];
	const isSameTurn = before.turnId !== undefined && before.turnId === after.turnId;
	const firstWord = earlier.first_word_ms ?? later.first_word_ms;
	const usage: Usage = {
		...earlier,
		...(isSameTurn ? addInput(earlier, later) : {}),
		...(firstWord === undefined ? {} : { first_word_ms: firstWord }),
		num_output_tokens: earlier.num_output_tokens + later.num_output_tokens,
		decode_ms: earlier.decode_ms + later.decode_ms,
		is_estimated: earlier.is_estimated || later.is_estimated,
		is_truncated: later.is_truncated
	};
	return { turnId: after.turnId, usage };
}

/** The usage of all rounds of one turn. Null if none was counted. */
export function sumUsage(usages: Usage[]): Usage | null {
	const [first, ...others] = usages.map((usage) => ({ turnId: 'one', usage }));
	return first === undefined ? null : others.reduce(joinUsage, first).usage;
}

function addInput(earlier: Usage, later: Usage) {
	return {
		num_input_tokens: earlier.num_input_tokens + later.num_input_tokens,
		num_cached_tokens: earlier.num_cached_tokens + later.num_cached_tokens,
		queued_ms: earlier.queued_ms + later.queued_ms,
		prefill_ms: earlier.prefill_ms + later.prefill_ms
	};
}

function toEntries(tree: Tree, nodes: ConversationNode[]): PathEntry[] {
	const entries: PathEntry[] = [];
	let before: ConversationNode | undefined;
	for (const node of nodes) {
		if (isAnswer(node) && isAnswer(before)) entries.at(-1)?.ids.push(node.id);
		else entries.push({ id: node.id, ids: [node.id], alternatives: findSiblings(tree, node) });
		before = node;
	}
	return entries;
}

/** Below an answer, its continuation and the person's next message are not alternatives. */
function findSiblings(tree: Tree, node: ConversationNode): string[] {
	const parent = getNode(tree, node.parent);
	const children = parent === undefined ? findRoots(tree) : parent.children;
	if (children.length < 2) return children;
	return children.filter((id) => isAnswer(getNode(tree, id)) === isAnswer(node));
}

function findRoots(tree: Tree): string[] {
	return [...tree.values()].filter(({ parent }) => !tree.has(parent ?? '')).map(({ id }) => id);
}

/** Whether the message is a part of an answer. */
function isAnswer(node: ConversationNode | undefined): boolean {
	const role = node?.message?.author.role;
	return role === 'assistant' || role === 'tool';
}

function getNode(tree: Tree, id: string | null): ConversationNode | undefined {
	return id === null ? undefined : tree.get(id);
}
