export const ui = {
	cancel: 'Cancel',
	close: 'Close',
	copy: 'Copy',
	copied: 'Copied',
	notCopied: 'The browser did not let us copy',
	dismiss: 'Dismiss',
	loading: 'Loading',
	notices: 'Notices',
	showTyped: 'Show what you type',
	hideTyped: 'Hide what you type',
	numCharsOf: (count: number, most: number) =>
		`${count.toLocaleString('en')} of ${most.toLocaleString('en')} characters`,
	/** The labels of keyboard keys. */
	keys: {
		ctrl: 'Ctrl',
		alt: 'Alt',
		shift: 'Shift',
		enter: 'Enter',
		escape: 'Esc',
		tab: 'Tab',
		backspace: 'Backspace',
		delete: 'Delete',
		home: 'Home',
		end: 'End'
	}
};
