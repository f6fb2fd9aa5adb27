// @vitest-environment jsdom
import { beforeEach, expect, test, vi } from 'vitest';
import { closeOnDismiss } from '$/ui/closeOnDismiss';

const onclose = vi.fn();
let dialog: HTMLDialogElement;
let field: HTMLInputElement;

beforeEach(() => {
	onclose.mockClear();
	dialog = document.createElement('dialog');
	field = document.createElement('input');
	dialog.append(field);
	document.body.append(dialog);
	dialog.open = true;
	dialog.close = () => (dialog.open = false);
	closeOnDismiss(onclose)(dialog);
});

const fire = (target: HTMLElement, type: string) =>
	target.dispatchEvent(new Event(type, { bubbles: true }));

test('Escape closes the dialog at once, before the callback', () => {
	onclose.mockImplementationOnce(() => expect(dialog.open).toBe(false));
	fire(dialog, 'cancel');
	expect(onclose).toHaveBeenCalledOnce();
});

test('a late close event of a removed dialog is ignored', () => {
	onclose.mockImplementationOnce(() => dialog.remove());
	fire(dialog, 'cancel');
	fire(dialog, 'close');
	expect(onclose).toHaveBeenCalledOnce();
});

test('a late close event of a dialog that is open again is ignored', () => {
	fire(dialog, 'cancel');
	dialog.open = true;
	fire(dialog, 'close');
	expect(onclose).toHaveBeenCalledOnce();
});

test('a close by the browser itself calls the callback', () => {
	dialog.open = false;
	fire(dialog, 'close');
	expect(onclose).toHaveBeenCalledOnce();
});

test('cancelling a file chooser inside does not close the dialog', () => {
	fire(field, 'cancel');
	expect(onclose).not.toHaveBeenCalled();
});

test('a press outside closes the dialog; a selection that only ends there does not', () => {
	fire(field, 'pointerdown');
	fire(dialog, 'click');
	expect(onclose).not.toHaveBeenCalled();
	fire(dialog, 'pointerdown');
	fire(dialog, 'click');
	expect(onclose).toHaveBeenCalledOnce();
});
