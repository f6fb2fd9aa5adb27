import type { Words } from '$/words/words';

export const desk: Words['desk'] = {
	name: 'hitsend',
	titleOf: (title) => `${title} · hitsend`,
	skip: 'Zum Eingabefeld springen',
	signOutFailed: 'Du bist noch angemeldet: Der Server war nicht erreichbar.',
	actions: {
		newChat: 'Neues Gespräch',
		palette: 'Ein Gespräch oder eine Aktion finden',
		shortcuts: 'Tastenkürzel',
		write: 'Zum Eingabefeld',
		stop: 'Antwort anhalten',
		answerAgain: 'Noch einmal antworten',
		copyAnswer: 'Letzte Antwort kopieren',
		foldSidebar: 'Liste der Gespräche ein- oder ausklappen',
		pin: 'Dieses Gespräch anheften oder lösen',
		archive: 'Dieses Gespräch archivieren',
		remove: 'Dieses Gespräch löschen',
		lookInside: 'In die letzte Antwort hineinsehen',
		light: 'Helles Design',
		dark: 'Dunkles Design',
		system: 'Design des Systems',
		signOut: 'Abmelden',
		settings: {
			account: 'Einstellungen: Konto',
			keys: 'Einstellungen: API-Schlüssel',
			appearance: 'Einstellungen: Darstellung',
			chat: 'Einstellungen: Gespräch',
			shares: 'Einstellungen: geteilte Links',
			data: 'Einstellungen: Export und Import',
			people: 'Verwaltung: Personen',
			invites: 'Verwaltung: Einladungen',
			models: 'Verwaltung: Modelle',
			limits: 'Verwaltung: Grenzen'
		}
	},
	also: {
		newChat: 'Chat beginnen starten',
		appearance: 'Theme dunkel hell Sprache Schriftgröße Dichte',
		chat: 'Voreinstellung Temperatur Sampling Anweisungen',
		data: 'Herunterladen Sicherung ChatGPT Open WebUI',
		keys: 'Token SDK curl',
		account: 'Passwort Name Sitzungen'
	},
	archived: (title) => `„${title}“ ist archiviert.`,
	removed: (title) => `„${title}“ ist gelöscht.`,
	undo: 'Rückgängig',
	copied: 'Die Antwort ist kopiert.'
};
