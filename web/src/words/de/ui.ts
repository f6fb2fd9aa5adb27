import type { Words } from '$/words/words';

export const ui: Words['ui'] = {
	cancel: 'Abbrechen',
	close: 'Schließen',
	copy: 'Kopieren',
	copied: 'Kopiert',
	notCopied: 'Der Browser hat das Kopieren nicht erlaubt',
	dismiss: 'Ausblenden',
	loading: 'Wird geladen',
	notices: 'Meldungen',
	showTyped: 'Eingabe zeigen',
	hideTyped: 'Eingabe verbergen',
	numCharsOf: (count: number, most: number) =>
		`${count.toLocaleString('de')} von ${most.toLocaleString('de')} Zeichen`,
	keys: {
		ctrl: 'Strg',
		alt: 'Alt',
		shift: 'Umschalt',
		enter: 'Enter',
		escape: 'Esc',
		tab: 'Tab',
		backspace: 'Rücktaste',
		delete: 'Entf',
		home: 'Pos1',
		end: 'Ende'
	}
};
