import { on } from 'svelte/events';

/**
 * Closes a dialog on Escape or on a press outside it. The browser fires `close` only a frame later,
 * and keys until then would go into a hidden field: so the dialog is closed and `onclose` called at once.
 */
export function closeOnDismiss(onclose: () => void) {
	return (dialog: HTMLDialogElement): (() => void) => {
		let wasPressedOutside = false;
		const close = () => {
			dialog.close();
			onclose();
		};
		const unsubscribes = [
			// A file input inside fires the same event if no file was chosen.
			on(dialog, 'cancel', ({ target }) => target === dialog && close()),
			// A text selection that starts inside and ends outside must not close it.
			on(dialog, 'pointerdown', ({ target }) => (wasPressedOutside = target === dialog)),
			on(dialog, 'click', ({ target }) => wasPressedOutside && target === dialog && close()),
			on(dialog, 'close', () => dialog.isConnected && !dialog.open && onclose())
		];
		return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
	};
}
