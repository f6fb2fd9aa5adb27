/**
 * delta_encoding v1: a stream of small changes to a few JSON trees, one tree per channel.
 *
 *     {"c": channel, "p": path, "o": operation, "v": value}
 *
 * A field of c, p, o that is left out is the same as in the delta before. The items of a
 * `patch` are complete. What cannot be done exactly is refused, never guessed: the server's
 * own decoder (src/hitsend/wire/tree.py) says what is exact.
 */

import type { Carry } from '$/api/wire';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export interface Delta {
	c?: number;
	p?: string;
	o?: string;
	v?: Json;
}

/** A change that does not fit the tree. The server and we no longer agree. */
export class BadDelta extends Error {}

export class Decoder {
	/** Each channel's tree, in the order the channels began. */
	readonly trees = new Map<number, Json>();
	carry: Carry = { c: null, p: null, o: null };

	/** One that has read as far as a snapshot goes. */
	static at(channels: Record<string, unknown>, carry: Carry): Decoder {
		const decoder = new Decoder();
		for (const [c, tree] of Object.entries(channels)) decoder.trees.set(Number(c), tree as Json);
		decoder.carry = carry;
		return decoder;
	}

	take(delta: Delta): void {
		const { c, p, o } = { ...this.carry, ...delta };
		if (c === null || p === null || o === null) {
			throw new BadDelta('The first delta must say its channel, path and operation.');
		}
		const tree = this.trees.get(c);
		if (tree === undefined && (p !== '' || (o !== 'add' && o !== 'replace'))) {
			throw new BadDelta(`There is nothing on channel ${c} to ${o} to.`);
		}
		this.trees.set(c, change(tree ?? null, o, p, delta.v));
		this.carry = { c, p, o };
	}
}

/** The tree with the change made. Trees are values: what did not change is shared. */
export function change(tree: Json, op: string, path: string, value: Json | undefined): Json {
	if (value === undefined && op !== 'remove') throw new BadDelta(`${op} needs a value.`);
	if (op === 'patch') return patched(tree, path, value ?? null);
	return path === '' ? newRoot(op, value ?? null) : changedAt(tree, steps(path), op, value ?? null);
}

function patched(tree: Json, path: string, items: Json): Json {
	if (!Array.isArray(items)) throw new BadDelta('A patch is a list of changes.');
	return items.reduce((grown, item) => {
		if (!isObject(item) || typeof item.p !== 'string' || typeof item.o !== 'string') {
			throw new BadDelta('Each change of a patch says its path and operation.');
		}
		if (item.o === 'patch') throw new BadDelta('A patch may not hold another patch.');
		return change(grown, item.o, path + item.p, item.v);
	}, tree);
}

function newRoot(op: string, value: Json): Json {
	if (op === 'add' || op === 'replace') return value;
	if (op === 'remove') return null;
	throw new BadDelta(`${op} needs a place below the root.`);
}

function changedAt(tree: Json, [step = '', ...rest]: string[], op: string, value: Json): Json {
	if (Array.isArray(tree)) {
		if (rest.length === 0) return changedElement(tree, step, op, value);
		const at = indexIn(step, tree.length);
		return tree.with(at, changedAt(tree[at] ?? null, rest, op, value));
	}
	if (!isObject(tree)) throw new BadDelta(`There is no ${step} on the way.`);
	if (rest.length === 0) return changedMember(tree, step, op, value);
	return withMember(tree, step, changedAt(memberOf(tree, step), rest, op, value));
}

function changedMember(tree: JsonObject, key: string, op: string, value: Json): Json {
	if (op === 'add' || op === 'replace') return withMember(tree, key, value);
	const old = memberOf(tree, key);
	if (op !== 'remove') return withMember(tree, key, resized(old, op, value));
	return Object.fromEntries(Object.entries(tree).filter(([other]) => other !== key));
}

function changedElement(list: Json[], step: string, op: string, value: Json): Json {
	if (op === 'add') {
		const before = step === '-' ? list.length : indexIn(step, list.length + 1);
		return list.toSpliced(before, 0, value);
	}
	const at = indexIn(step, list.length);
	if (op === 'remove') return list.toSpliced(at, 1);
	return list.with(at, op === 'replace' ? value : resized(list[at] ?? null, op, value));
}

function resized(old: Json, op: string, value: Json): Json {
	if (op === 'append') return appended(old, value);
	if (op === 'truncate') return truncated(old, value);
	throw new BadDelta(`There is no operation ${op}.`);
}

function appended(old: Json, value: Json): Json {
	if (typeof old === 'string' && typeof value === 'string') return old + value;
	if (Array.isArray(old)) return old.concat(value);
	if (isObject(old) && isObject(value)) return merged(old, Object.entries(value));
	throw new BadDelta('append joins like to like.');
}

/** Lengths of text count characters, not UTF-16 units, as the server counts them. */
function truncated(old: Json, length: Json): Json {
	if (typeof old !== 'string' && !Array.isArray(old)) {
		throw new BadDelta('truncate cuts a text or a list.');
	}
	const pieces = [...old];
	if (!Number.isInteger(length) || Number(length) < 0 || Number(length) > pieces.length) {
		throw new BadDelta('truncate takes a length that is there.');
	}
	const kept = pieces.slice(0, Number(length));
	return typeof old === 'string' ? kept.join('') : kept;
}

function steps(path: string): string[] {
	if (!/^(\/([^~/]|~[01])*)+$/s.test(path)) throw new BadDelta(`${path} is not a JSON Pointer.`);
	const unescaped = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');
	return path.slice(1).split('/').map(unescaped);
}

function indexIn(step: string, end: number): number {
	if (!/^(0|[1-9]\d{0,8})$/.test(step) || Number(step) >= end) {
		throw new BadDelta(`${step} is no place in a list of that length.`);
	}
	return Number(step);
}

function memberOf(tree: JsonObject, key: string): Json {
	if (!Object.hasOwn(tree, key)) throw new BadDelta(`There is no ${key}.`);
	return tree[key] ?? null;
}

const withMember = (tree: JsonObject, key: string, value: Json) => merged(tree, [[key, value]]);

/** A key called `__proto__` is a key like any other, so there is no assignment here. */
function merged(tree: JsonObject, entries: [string, Json][]): JsonObject {
	return Object.fromEntries([...Object.entries(tree), ...entries]);
}

function isObject(value: Json): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
