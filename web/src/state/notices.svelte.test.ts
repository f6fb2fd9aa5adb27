import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Notices } from '$/state/notices.svelte';

const A_WHILE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const texts = ({ items }: Notices) => items.map(({ text }) => text);

test('a notice disappears by itself', () => {
	const notices = new Notices();
	notices.show('Done.');
	expect(texts(notices)).toEqual(['Done.']);

	vi.advanceTimersByTime(A_WHILE_MS);
	expect(texts(notices)).toEqual([]);
});

test('a held notice stays, and its timer restarts when it is released', () => {
	const notices = new Notices();
	notices.show('Deleted.', { label: 'Undo', run: () => undefined });
	notices.hold(true);
	vi.advanceTimersByTime(A_WHILE_MS);
	expect(texts(notices)).toEqual(['Deleted.']);

	notices.hold(false);
	vi.advanceTimersByTime(1_000);
	expect(texts(notices)).toEqual(['Deleted.']);
	vi.advanceTimersByTime(A_WHILE_MS);
	expect(texts(notices)).toEqual([]);
});

test('undo runs the newest undo action, and removes its notice', () => {
	const notices = new Notices();
	const run = vi.fn();
	notices.show('Archived.', { label: 'Undo', run: () => run('archived') });
	notices.show('Deleted.', { label: 'Undo', run: () => run('deleted') });
	notices.show('Copied.');

	notices.undo();
	expect(run.mock.calls).toEqual([['deleted']]);
	expect(texts(notices)).toEqual(['Archived.', 'Copied.']);
	notices.undo();
	expect(notices.undoable).toBeNull();
});

test('only the last three notices are shown', () => {
	const notices = new Notices();
	for (const text of ['1', '2', '3', '4']) notices.warn(text);
	expect(texts(notices)).toEqual(['2', '3', '4']);
});
