import { expect, test } from 'vitest';
import { MAX_EARLY, PATIENCE_MS, Topic, type Item } from './topic';

/** A little chance that can be had again. */
function chance(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return state / 2 ** 32;
	};
}

/** Events 1, 2, 3… in items of one to four, each item naming the events it covers. */
function items(count: number, next: () => number): Item<number[]>[] {
	const all: Item<number[]>[] = [];
	for (let seq = 0; seq < count;) {
		const n = Math.min(1 + Math.floor(next() * 4), count - seq);
		all.push({ seq: seq + n, n, body: Array.from({ length: n }, (_, i) => seq + i + 1) });
		seq += n;
	}
	return all;
}

/** What a line does to them: some are lost, some come twice, some late. */
function battered(sent: Item<number[]>[], next: () => number): Item<number[]>[] {
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

test('whatever is lost, doubled or late, everything is read once and in order', () => {
	for (let seed = 1; seed <= 300; seed++) {
		const next = chance(seed);
		const sent = items(120, next);
		const last = sent.at(-1);
		const topic = new Topic<number[]>(0);
		const read: number[] = [];
		let now = 0;
		const take = (item: Item<number[]>) => read.push(...topic.take(item).flat());
		// The last one always arrives some time: a line that is silent is dropped and followed anew.
		const arriving = [...battered(sent, next), ...(last === undefined ? [] : [last])];
		for (let item = arriving.shift(); item !== undefined; item = arriving.shift()) {
			take(item);
			now += PATIENCE_MS;
			const wish = topic.wish(now);
			if (wish?.type === 'nack') {
				const missing = sent.filter(({ seq }) => seq >= wish.from && seq <= wish.to);
				arriving.unshift(...missing);
			}
			expect(wish?.type).not.toBe('restart');
		}
		expect(read).toEqual(Array.from({ length: 120 }, (_, i) => i + 1));
	}
});

const item = (seq: number, n = 1): Item<number> => ({ seq, n, body: seq });

test('a gap is asked for once, again after some time, and then everything anew', () => {
	const topic = new Topic<number>(3);
	expect(topic.take(item(6))).toEqual([]);
	expect(topic.wish(0)).toEqual({ type: 'nack', from: 4, to: 5 });
	expect(topic.take(item(7))).toEqual([]);
	expect(topic.wish(PATIENCE_MS - 1)).toBeNull();
	expect(topic.wish(PATIENCE_MS)).toEqual({ type: 'nack', from: 4, to: 5 });

	expect(topic.wish(2 * PATIENCE_MS)).toEqual({ type: 'restart' });
});

test('what came early is read as soon as the gap is filled', () => {
	const topic = new Topic<number>(0);
	topic.take(item(3));
	topic.take(item(2));

	expect(topic.take(item(1))).toEqual([1, 2, 3]);
	expect(topic.wish(0)).toBeNull();
});

test('an item of which half was read is asked for anew', () => {
	const topic = new Topic<number>(2);
	expect(topic.take(item(4, 3))).toEqual([]);
	expect(topic.wish(0)).toEqual({ type: 'restart' });
	topic.jump(4);

	expect(topic.take(item(5))).toEqual([5]);
});

test('not everything that comes early is kept', () => {
	const topic = new Topic<number>(0);
	for (let seq = 2; seq < MAX_EARLY + 3; seq++) topic.take(item(seq));

	expect(topic.wish(0)).toEqual({ type: 'restart' });
});
