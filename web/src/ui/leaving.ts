import { on } from 'svelte/events';

/**
 * For a dialog that is left by Escape or by a press beside it. A browser tells only a frame later
 * that it closed one, and what is typed until then would go into a field nobody sees any more:
 * so it is closed, gives back the focus and says so as soon as somebody wants to leave.
 */
export function leaving(onleave: () => void) {
	return (dialog: HTMLDialogElement): (() => void) => {
		let wasPressedBeside = false;
		const leave = () => {
			dialog.close();
			onleave();
		};
		const off = [
			// A file field inside tells by the same event that no file was chosen.
			on(dialog, 'cancel', ({ target }) => target === dialog && leave()),
			// A selection that began inside and ended beside it is no wish to leave.
			on(dialog, 'pointerdown', ({ target }) => (wasPressedBeside = target === dialog)),
			on(dialog, 'click', ({ target }) => wasPressedBeside && target === dialog && leave()),
			on(dialog, 'close', () => dialog.isConnected && !dialog.open && onleave())
		];
		return () => off.forEach((stop) => stop());
	};
}
