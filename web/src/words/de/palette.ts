import type { Words } from '$/words/words';

export const palette: Words['palette'] = {
	title: 'Alles finden',
	placeholder: 'Gespräch oder Aktion finden …',
	results: 'Ergebnisse',
	actions: 'Aktionen',
	recent: 'Letzte Gespräche',
	conversations: 'Gespräche',
	untitled: 'Neues Gespräch',
	archived: 'Archiv',
	searching: 'Suche läuft …',
	nothing: (query) =>
		`Nichts gefunden zu „${query}“. Versuch ein anderes Wort oder weniger Buchstaben.`,
	numResults: (count) => (count === 1 ? '1 Ergebnis' : `${count} Ergebnisse`),

	willRun: (label) => `Enter: ${label}`,
	willOpen: (title) => `Enter öffnet „${title}“`,
	willJump: (title) => `Enter springt zur Stelle in „${title}“`,
	toChoose: 'wählen',
	toClose: 'schließen',

	shortcuts: 'Tastenkürzel',
	anywhere: 'Überall',
	writing: 'Beim Schreiben',
	inTheList: 'In der Liste der Gespräche',
	send: 'Nachricht senden',
	newLine: 'Neue Zeile',
	commands: 'Befehle, am Anfang einer Nachricht',
	previousRow: 'Gespräch darüber',
	nextRow: 'Gespräch darunter',
	rename: 'Umbenennen',
	open: 'Öffnen'
};
