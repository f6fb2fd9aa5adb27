/** A conversation is a tree: every edit and every other answer is a branch. Pure values. */
import type { Seen, Usage } from '$/api/events.gen';
import type { ConversationNode, Feedback, Message } from '$/api/wire';
import { isHidden } from '$/turn/reading';

export type Tree = ReadonlyMap<string, ConversationNode>;

/** What stands at one place on the way from the root to a leaf, and what else could stand there. */
export interface Place {
	/** The message, or the first of an answer that was continued. */
	id: string;
	/** One message; several where an answer was continued, which read as one. */
	ids: string[];
	/** The messages that stand in the same place, this one among them. */
	alternatives: string[];
}

export const EMPTY: Tree = new Map();

/** What is stored of a conversation. What stands below a hidden message moves up. */
export function treeOf(mapping: Record<string, ConversationNode>): Tree {
	const hidden = (id: string | null) => {
		const node = mapping[id ?? ''];
		return node?.message != null && isHidden(node.message) ? node : undefined;
	};
	const above = (id: string | null): string | null => {
		const node = hidden(id);
		return node === undefined ? id : above(node.parent);
	};
	const below = (id: string): string[] => hidden(id)?.children.flatMap(below) ?? [id];
	const shown = Object.values(mapping).filter(({ id }) => hidden(id) === undefined);
	return new Map(
		shown.map((node) => {
			const { id, parent, children } = node;
			return [id, { ...node, parent: above(parent), children: children.flatMap(below) }];
		})
	);
}

export function grow(tree: Tree, message: Message): Tree {
	const grown = new Map(tree);
	const known = grown.get(message.id);
	const parent = known?.parent ?? message.metadata.parent_id ?? null;
	grown.set(message.id, { id: message.id, parent, children: known?.children ?? [], message });
	const above = parent === null ? undefined : grown.get(parent);
	if (above !== undefined && !above.children.includes(message.id)) {
		grown.set(above.id, { ...above, children: [...above.children, message.id] });
	}
	return grown;
}

/** From the root through a message, and on to the newest leaf below it unless it `isLast`. */
export function pathThrough(tree: Tree, id: string | null, isLast: boolean): Place[] {
	const nodes: ConversationNode[] = [];
	for (let node = nodeAt(tree, id); node?.message != null; node = nodeAt(tree, node.parent)) {
		nodes.push(node);
	}
	nodes.reverse();
	let last = isLast ? undefined : nodeAt(tree, id);
	while ((last = nodeAt(tree, last?.children.at(-1) ?? null)) !== undefined) nodes.push(last);
	return placesOf(tree, nodes);
}

/** The last message of a path, which whatever is said next follows. */
export function leafOf(path: Place[]): string | null {
	return path.at(-1)?.ids.at(-1) ?? null;
}

/** What an answer answers, before all that it continues. */
export function questionOf(tree: Tree, answerId: string): string | null {
	let node = nodeAt(tree, answerId);
	while (isAnswer(node)) node = nodeAt(tree, node?.parent ?? null);
	return node?.message == null ? null : node.id;
}

/** A message with what its reader thinks of it; with null, they think nothing. */
export function rated(message: Message, feedback: Feedback | null): Message {
	const metadata = { ...message.metadata };
	if (feedback === null) delete metadata.feedback;
	else metadata.feedback = feedback;
	return { ...message, metadata };
}

/** Messages that are one answer, as one message: it ended as the last of them did. */
export function joined(messages: Message[]): Message | null {
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
			...(usages.length === 0 ? {} : { usage: usages.reduce(together) }),
			...(seen.length === 0 ? {} : { seen: seen.reduce(seenTogether) })
		}
	};
}

/** What was used or changed on the way stays; what was left out is told of the last. */
function seenTogether(earlier: Seen, later: Seen): Seen {
	return {
		...later,
		memories: [...new Set([...earlier.memories, ...later.memories])],
		changed: [...earlier.changed, ...later.changed]
	};
}

/** What was written adds up; what was read and waited for is told of the first, and how it ended
 * of the last. */
function together(earlier: Usage, later: Usage): Usage {
	return {
		...earlier,
		num_output_tokens: earlier.num_output_tokens + later.num_output_tokens,
		decode_ms: earlier.decode_ms + later.decode_ms,
		is_estimated: earlier.is_estimated || later.is_estimated,
		is_truncated: later.is_truncated
	};
}

function placesOf(tree: Tree, nodes: ConversationNode[]): Place[] {
	const places: Place[] = [];
	let before: ConversationNode | undefined;
	for (const node of nodes) {
		if (isAnswer(node) && isAnswer(before)) places.at(-1)?.ids.push(node.id);
		else places.push({ id: node.id, ids: [node.id], alternatives: siblings(tree, node) });
		before = node;
	}
	return places;
}

/** A continuation stands below an answer as a person's next message does, but not in its place. */
function siblings(tree: Tree, node: ConversationNode): string[] {
	const parent = nodeAt(tree, node.parent);
	const beside = parent === undefined ? roots(tree) : parent.children;
	if (beside.length < 2) return beside;
	return beside.filter((id) => isAnswer(nodeAt(tree, id)) === isAnswer(node));
}

function roots(tree: Tree): string[] {
	return [...tree.values()].filter(({ parent }) => !tree.has(parent ?? '')).map(({ id }) => id);
}

function isAnswer(node: ConversationNode | undefined): boolean {
	return node?.message?.author.role === 'assistant';
}

function nodeAt(tree: Tree, id: string | null): ConversationNode | undefined {
	return id === null ? undefined : tree.get(id);
}
