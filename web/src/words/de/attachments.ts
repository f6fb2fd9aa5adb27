import type { attachments as en } from '$/words/en/attachments';
import { createNumberFormats } from '$/words/numbers';

const { whole } = createNumberFormats('de');

export const attachments: typeof en = {
	menu: 'Zur Nachricht hinzufügen',
	fromServer: 'Von einem Server hinzufügen',
	command: 'anhängen',
	label: 'Angehängt',
	show: (title, server) => `${title} anzeigen (${server})`,
	remove: (title) => `${title} entfernen`,
	from: (server, numChars) => `Von ${server} · ${whole(numChars)} Zeichen`,
	marked: 'Dem Modell wird gesagt, dass dies Daten von anderen sind und keine Anweisungen.',
	tooMany: (most) => `Eine Nachricht kann höchstens ${whole(most)} Anhänge haben.`,
	title: 'Von einem Server hinzufügen',
	search: 'Suchen',
	none: 'Deine Server haben nichts zum Anhängen.',
	noneHere: 'Er hat nichts zum Anhängen.',
	noneFound: 'Nichts gefunden.',
	asking: (server) => `${server} wird gefragt`,
	attach: 'Anhängen',
	reading: 'Wird gelesen',
	again: 'Erneut versuchen',
	prompts: {
		from: (server) =>
			`Eine Vorlage von ${server}. Ihr Text kommt in deine Nachricht: Lies ihn, bevor du ihn sendest.`,
		optional: (name) => `${name} (freiwillig)`,
		missing: 'Das wird gebraucht.',
		fill: 'In die Nachricht setzen',
		getting: (title) => `„${title}“ wird geholt`
	}
};
