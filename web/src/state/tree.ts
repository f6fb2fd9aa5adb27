/** A conversation is a tree: every edit and every other answer is a branch. Pure values. */
import type { ConversationNode, Message } from '$/api/wire';

export type Tree = ReadonlyMap<string, ConversationNode>;

/** A message on the way from the root to a leaf, and the messages that stand in its place. */
export interface Place {
	id: string;
	alternatives: string[];
}

export const EMPTY: Tree = new Map();

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

/** The tree without a message that has no children. */
export function prune(tree: Tree, id: string): Tree {
	const pruned = new Map(tree);
	pruned.delete(id);
	for (const node of tree.values()) {
		if (!node.children.includes(id)) continue;
		pruned.set(node.id, { ...node, children: node.children.filter((child) => child !== id) });
	}
	return pruned;
}

/** From the root through a message, and on to the newest leaf below it unless it `isLast`. */
export function pathThrough(tree: Tree, id: string | null, isLast: boolean): Place[] {
	const path: Place[] = [];
	for (let node = nodeAt(tree, id); node?.message != null; node = nodeAt(tree, node.parent)) {
		path.unshift({ id: node.id, alternatives: siblings(tree, node) });
	}
	let last = isLast ? undefined : nodeAt(tree, id);
	while ((last = nodeAt(tree, last?.children.at(-1) ?? null)) !== undefined) {
		path.push({ id: last.id, alternatives: siblings(tree, last) });
	}
	return path;
}

function siblings(tree: Tree, node: ConversationNode): string[] {
	const parent = nodeAt(tree, node.parent);
	if (parent !== undefined) return parent.children;
	return [...tree.values()].filter((other) => !tree.has(other.parent ?? '')).map(({ id }) => id);
}

function nodeAt(tree: Tree, id: string | null): ConversationNode | undefined {
	return id === null ? undefined : tree.get(id);
}
