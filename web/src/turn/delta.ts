/**
 * delta_encoding v1: a stream of small changes to a few JSON trees, one tree per channel.
 *
 *     {"c": channel, "p": path, "o": operation, "v": value}
 *
 * A missing c, p or o is the same as in the delta before. The items of a `patch` are complete.
 * A delta that does not apply exactly throws, as in the server's decoder
 * (src/hitsend/wire/json_patch.py).
 */

import type { Carry, Delta as WireDelta } from '$/api/wire';

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export type Delta = WireDelta & { v?: Json };

/** A delta does not fit the tree: the page and the server disagree about the text. */
export class BadDelta extends Error {}

export class DeltaDecoder {
	/** Each channel's tree, in the order in which the channels started. */
	readonly trees = new Map<number, Json>();
	carry: Carry = { c: null, p: null, o: null };

	static fromSnapshot(channels: Record<string, unknown>, carry: Carry): DeltaDecoder {
		const decoder = new DeltaDecoder();
		for (const [c, tree] of Object.entries(channels)) decoder.trees.set(Number(c), tree as Json);
		decoder.carry = carry;
		return decoder;
	}

	apply(delta: Delta): void {
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

/** Returns the changed tree. Trees are immutable and share their unchanged parts. */
export function change(tree: Json, op: string, path: string, value: Json | undefined): Json {
	if (value === undefined && op !== 'remove') throw new BadDelta(`${op} needs a value.`);
	if (op === 'patch') return applyPatch(tree, path, value ?? null);
	if (path === '') return changeRoot(op, value ?? null);
	return changeAt(tree, parsePointer(path), op, value ?? null);
}

function applyPatch(tree: Json, path: string, items: Json): Json {
	if (!Array.isArray(items)) throw new BadDelta('A patch is a list of changes.');
	return items.reduce((result, item) => {
		if (!isObject(item) || typeof item.p !== 'string' || typeof item.o !== 'string') {
			throw new BadDelta('Each change of a patch says its path and operation.');
		}
		if (item.o === 'patch') throw new BadDelta('A patch may not hold another patch.');
		return change(result, item.o, path + item.p, item.v);
	}, tree);
}

function changeRoot(op: string, value: Json): Json {
	if (op === 'add' || op === 'replace') return value;
	if (op === 'remove') return null;
	throw new BadDelta(`${op} needs a place below the root.`);
}

function changeAt(tree: Json, [step = '', ...rest]: string[], op: string, value: Json): Json {
	if (Array.isArray(tree)) {
		if (rest.length === 0) return changeElement(tree, step, op, value);
		const at = parseIndex(step, tree.length);
		return tree.with(at, changeAt(tree[at] ?? null, rest, op, value));
	}
	if (!isObject(tree)) throw new BadDelta(`There is no ${step} on the way.`);
	if (rest.length === 0) return changeMember(tree, step, op, value);
	return setMember(tree, step, changeAt(getMember(tree, step), rest, op, value));
}

function changeMember(tree: JsonObject, key: string, op: string, value: Json): Json {
	if (op === 'add' || op === 'replace') return setMember(tree, key, value);
	const old = getMember(tree, key);
	if (op !== 'remove') return setMember(tree, key, resize(old, op, value));
	return Object.fromEntries(Object.entries(tree).filter(([other]) => other !== key));
}

function changeElement(list: Json[], step: string, op: string, value: Json): Json {
	if (op === 'add') {
		const before = step === '-' ? list.length : parseIndex(step, list.length + 1);
		return list.toSpliced(before, 0, value);
	}
	const at = parseIndex(step, list.length);
	if (op === 'remove') return list.toSpliced(at, 1);
	return list.with(at, op === 'replace' ? value : resize(list[at] ?? null, op, value));
}

function resize(old: Json, op: string, value: Json): Json {
	if (op === 'append') return append(old, value);
	if (op === 'truncate') return truncate(old, value);
	throw new BadDelta(`There is no operation ${op}.`);
}

function append(old: Json, value: Json): Json {
	if (typeof old === 'string' && typeof value === 'string') return old + value;
	if (Array.isArray(old)) return old.concat(value);
	if (isObject(old) && isObject(value)) return merge(old, Object.entries(value));
	throw new BadDelta('append joins like to like.');
}

/** The server counts characters, not UTF-16 units. */
function truncate(old: Json, length: Json): Json {
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

function parsePointer(path: string): string[] {
	if (!/^(\/([^~/]|~[01])*)+$/s.test(path)) throw new BadDelta(`${path} is not a JSON Pointer.`);
	const unescapeStep = (step: string) => step.replaceAll('~1', '/').replaceAll('~0', '~');
	return path.slice(1).split('/').map(unescapeStep);
}

function parseIndex(step: string, end: number): number {
	if (!/^(0|[1-9]\d{0,8})$/.test(step) || Number(step) >= end) {
		throw new BadDelta(`${step} is no place in a list of that length.`);
	}
	return Number(step);
}

function getMember(tree: JsonObject, key: string): Json {
	if (!Object.hasOwn(tree, key)) throw new BadDelta(`There is no ${key}.`);
	return tree[key] ?? null;
}

const setMember = (tree: JsonObject, key: string, value: Json) => merge(tree, [[key, value]]);

/** Avoids assignment, which would treat the key `__proto__` specially. */
function merge(tree: JsonObject, entries: [string, Json][]): JsonObject {
	return Object.fromEntries([...Object.entries(tree), ...entries]);
}

function isObject(value: Json): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}
