// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { leaving } from '$/ui/leaving';

const left = vi.fn();
let dialog: HTMLDialogElement;
let field: HTMLInputElement;

beforeEach(() => {
	left.mockClear();
	dialog = document.createElement('dialog');
	field = document.createElement('input');
	dialog.append(field);
	document.body.append(dialog);
	dialog.open = true;
	dialog.close = () => (dialog.open = false);
	leaving(left)(dialog);
});

const tell = (target: HTMLElement, type: string) =>
	target.dispatchEvent(new Event(type, { bubbles: true }));

test('Escape leaves at once, and closes before it says so', () => {
	left.mockImplementationOnce(() => expect(dialog.open).toBe(false));
	tell(dialog, 'cancel');
	expect(left).toHaveBeenCalledOnce();
});

test('a browser that tells late that it closed says nothing about a dialog that is gone', () => {
	left.mockImplementationOnce(() => dialog.remove());
	tell(dialog, 'cancel');
	tell(dialog, 'close');
	expect(left).toHaveBeenCalledOnce();
});

test('nor about one that is open again', () => {
	tell(dialog, 'cancel');
	dialog.open = true;
	tell(dialog, 'close');
	expect(left).toHaveBeenCalledOnce();
});

test('a dialog that the browser closed by itself is left', () => {
	dialog.open = false;
	tell(dialog, 'close');
	expect(left).toHaveBeenCalledOnce();
});

test('a file that is not chosen after all closes nothing', () => {
	tell(field, 'cancel');
	expect(left).not.toHaveBeenCalled();
});

test('a press beside it leaves; a selection that only ends there does not', () => {
	tell(field, 'pointerdown');
	tell(dialog, 'click');
	expect(left).not.toHaveBeenCalled();
	tell(dialog, 'pointerdown');
	tell(dialog, 'click');
	expect(left).toHaveBeenCalledOnce();
});
