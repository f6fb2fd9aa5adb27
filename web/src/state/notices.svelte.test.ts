import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Notices } from '$/state/notices.svelte';

const A_WHILE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const texts = ({ items }: Notices) => items.map(({ text }) => text);

test('a notice goes by itself', () => {
	const notices = new Notices();
	notices.tell('Done.');
	expect(texts(notices)).toEqual(['Done.']);

	vi.advanceTimersByTime(A_WHILE_MS);
	expect(texts(notices)).toEqual([]);
});

test('a notice somebody is about stays until they leave it, and a little longer', () => {
	const notices = new Notices();
	notices.tell('Deleted.', { label: 'Undo', run: () => undefined });
	notices.hold(true);
	vi.advanceTimersByTime(A_WHILE_MS);
	expect(texts(notices)).toEqual(['Deleted.']);

	notices.hold(false);
	vi.advanceTimersByTime(1_000);
	expect(texts(notices)).toEqual(['Deleted.']);
	vi.advanceTimersByTime(A_WHILE_MS);
	expect(texts(notices)).toEqual([]);
});

test('undo takes back the newest that can be, and with it its notice', () => {
	const notices = new Notices();
	const run = vi.fn();
	notices.tell('Archived.', { label: 'Undo', run: () => run('archived') });
	notices.tell('Deleted.', { label: 'Undo', run: () => run('deleted') });
	notices.tell('Copied.');

	notices.undo();
	expect(run.mock.calls).toEqual([['deleted']]);
	expect(texts(notices)).toEqual(['Archived.', 'Copied.']);
	notices.undo();
	expect(notices.undoable).toBeNull();
});

test('the last three are enough', () => {
	const notices = new Notices();
	for (const text of ['1', '2', '3', '4']) notices.warn(text);
	expect(texts(notices)).toEqual(['2', '3', '4']);
});
