import { expect, test } from 'vitest';
import { MAX_BUFFERED, NACK_TIMEOUT_MS, ReorderBuffer, type Item } from './reorderBuffer';

/** A seeded random generator, so that a failure can be repeated. */
function createRandom(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return state / 2 ** 32;
	};
}

/** Events 1, 2, 3… in items of one to four, each item naming the events it covers. */
function createItems(count: number, next: () => number): Item<number[]>[] {
	const all: Item<number[]>[] = [];
	for (let seq = 0; seq < count;) {
		const n = Math.min(1 + Math.floor(next() * 4), count - seq);
		all.push({ seq: seq + n, n, body: Array.from({ length: n }, (_, i) => seq + i + 1) });
		seq += n;
	}
	return all;
}

/** Drops, duplicates and reorders items as a bad connection does. */
function distort(sent: Item<number[]>[], next: () => number): Item<number[]>[] {
	const arriving = sent.flatMap((item) => {
		const luck = next();
		if (luck < 0.1) return [];
		return luck < 0.25 ? [item, item] : [item];
	});
	for (let i = 1; i < arriving.length; i++) {
		const [before, after] = [arriving[i - 1], arriving[i]];
		if (before !== undefined && after !== undefined && next() < 0.2) {
			arriving[i - 1] = after;
			arriving[i] = before;
		}
	}
	return arriving;
}

test('lost, duplicated and late items are all delivered once and in order', () => {
	for (let seed = 1; seed <= 300; seed++) {
		const next = createRandom(seed);
		const sent = createItems(120, next);
		const last = sent.at(-1);
		const buffer = new ReorderBuffer<number[]>(0);
		const read: number[] = [];
		let now = 0;
		const add = (item: Item<number[]>) => read.push(...buffer.add(item).flat());
		// The last item always arrives: a silent connection would be dropped and resumed.
		const arriving = [...distort(sent, next), ...(last === undefined ? [] : [last])];
		for (let item = arriving.shift(); item !== undefined; item = arriving.shift()) {
			add(item);
			now += NACK_TIMEOUT_MS;
			const request = buffer.repair(now);
			if (request?.type === 'nack') {
				const missing = sent.filter(({ seq }) => seq >= request.from && seq <= request.to);
				arriving.unshift(...missing);
			}
			expect(request?.type).not.toBe('restart');
		}
		expect(read).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
	}
});

const item = (seq: number, n = 1): Item<number> => ({ seq, n, body: seq });

test('a gap is requested twice, and then the whole turn', () => {
	const buffer = new ReorderBuffer<number>(3);
	expect(buffer.add(item(6))).toEqual([]);
	expect(buffer.repair(0)).toEqual({ type: 'nack', from: 4, to: 5 });
	expect(buffer.add(item(7))).toEqual([]);
	expect(buffer.repair(NACK_TIMEOUT_MS - 1)).toBeNull();
	expect(buffer.repair(NACK_TIMEOUT_MS)).toEqual({ type: 'nack', from: 4, to: 5 });

	expect(buffer.repair(2 * NACK_TIMEOUT_MS)).toEqual({ type: 'restart' });
});

test('early items are delivered as soon as the gap is filled', () => {
	const buffer = new ReorderBuffer<number>(0);
	buffer.add(item(3));
	buffer.add(item(2));

	expect(buffer.add(item(1))).toEqual([1, 2, 3]);
	expect(buffer.repair(0)).toBeNull();
});

test('an item that was half delivered needs a restart', () => {
	const buffer = new ReorderBuffer<number>(2);
	expect(buffer.add(item(4, 3))).toEqual([]);
	expect(buffer.repair(0)).toEqual({ type: 'restart' });
	buffer.jump(4);

	expect(buffer.add(item(5))).toEqual([5]);
});

test('too many early items need a restart', () => {
	const buffer = new ReorderBuffer<number>(0);
	for (let seq = 2; seq < MAX_BUFFERED + 3; seq++) buffer.add(item(seq));

	expect(buffer.repair(0)).toEqual({ type: 'restart' });
});
