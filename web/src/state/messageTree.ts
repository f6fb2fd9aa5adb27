/** A conversation is a tree: every edit and every other answer is a branch. Pure values. */
import type { Seen, Usage } from '$/api/events.gen';
import type { ConversationNode, Feedback, Message } from '$/api/wire';
import { isHidden } from '$/turn/frameDecoder';

export type Tree = ReadonlyMap<string, ConversationNode>;

/** One entry of the path from the root to a leaf. */
export interface PathEntry {
	/** The message, or the first part of a continued answer. */
	id: string;
	/** One message, or all parts of a continued answer, which is shown as one. */
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

/** The question of an answer, above all parts of a continued answer. */
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

/** Joins the parts of a continued answer. The result ends as the last part does. */
export function joinMessages(messages: Message[]): Message | null {
	const [first, last] = [messages[0], messages.at(-1)];
	if (first === undefined || last === undefined || first === last) return first ?? null;
	const text = messages.map(({ content }) => content.parts[0] ?? '').join('');
	const usages = messages.flatMap(({ metadata }) => metadata.usage ?? []);
	const seen = messages.flatMap(({ metadata }) => metadata.seen ?? []);
	return {
		...last,
		create_time: first.create_time,
		content: { ...last.content, parts: [text] },
		metadata: {
			...last.metadata,
			...(usages.length === 0 ? {} : { usage: usages.reduce(joinUsage) }),
			...(seen.length === 0 ? {} : { seen: seen.reduce(joinSeen) })
		}
	};
}

/** Memories and changes add up; dropped messages are those of the last part. */
function joinSeen(earlier: Seen, later: Seen): Seen {
	return {
		...later,
		memories: [...new Set([...earlier.memories, ...later.memories])],
		changed: [...earlier.changed, ...later.changed]
	};
}

/** Output adds up; input and waiting are those of the first part, truncation that of the last. */
function joinUsage(earlier: Usage, later: Usage): Usage {
	return {
		...earlier,
		num_output_tokens: earlier.num_output_tokens + later.num_output_tokens,
		decode_ms: earlier.decode_ms + later.decode_ms,
		is_estimated: earlier.is_estimated || later.is_estimated,
		is_truncated: later.is_truncated
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

function isAnswer(node: ConversationNode | undefined): boolean {
	return node?.message?.author.role === 'assistant';
}

function getNode(tree: Tree, id: string | null): ConversationNode | undefined {
	return id === null ? undefined : tree.get(id);
}
