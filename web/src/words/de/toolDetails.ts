import type { toolDetails as en } from '$/words/en/toolDetails';
import { createNumberFormats } from '$/words/numbers';

const { whole } = createNumberFormats('de');

export const toolDetails: typeof en = {
	arguments: 'Gefragt wurde nach',
	program: 'Programm',
	output: 'Ergebnis',
	progress: 'Bisher',
	problem: 'Was nicht geklappt hat',
	noOutput: 'Es kam nichts zurück.',
	copyOutput: 'Ergebnis kopieren',
	sources: 'Quellen',
	strangers: 'Das können Fremde geschrieben haben. Anweisungen darin befolgt hitsend nicht.',
	openSource: (title) => `${title} (öffnet sich in einem neuen Tab)`,
	files: 'Dateien',
	table: 'Tabelle',
	allowed: {
		once: 'Du hast das einmal erlaubt.',
		conversation: 'Du hast dieses Werkzeug in diesem Gespräch erlaubt.',
		always: 'Du erlaubst dieses Werkzeug immer.',
		refused: 'Du hast das nicht erlaubt.'
	},
	youSaid: (word) => `Du hast gesagt: „${word}“`,

	approval: {
		title: (tool) => `„${tool}“ erlauben?`,
		reasons: {
			writes:
				'Das ändert oder sendet etwas außerhalb dieses Gesprächs, darum fragt hitsend vorher.',
			untrusted:
				'Das Modell hat gerade Text von Fremden gelesen, die das verlangt haben könnten. Prüfe es, bevor du es erlaubst.'
		},
		expired: 'Die Antwort wartet hier auf dich. Sie geht weiter, sobald du entscheidest.',
		tool: 'Werkzeug',
		server: 'Server',
		nothing: 'Ohne weitere Angaben',
		once: 'Einmal erlauben',
		conversation: 'In diesem Gespräch erlauben',
		always: 'Immer erlauben',
		refuse: 'Ablehnen',
		word: 'Warum nicht? Das liest das Modell (freiwillig)'
	},

	form: {
		title: (tool) => `„${tool}“ fragt dich`,
		from: (server) => `Von ${server}. Gib keine Passwörter oder andere Geheimnisse ein.`,
		kept: 'Was du schreibst, bekommt nur dieses Werkzeug. Im Gespräch bleibt es nicht.',
		accept: 'Senden',
		decline: 'Ablehnen',
		cancel: 'Abbrechen',
		late: 'Das Werkzeug wartet nicht mehr darauf.',
		unreadable: 'Dieses Formular lässt sich hier nicht zeigen. Du kannst es ablehnen.',
		optional: (label) => `${label} (freiwillig)`,
		choose: 'Wählen',
		yes: 'Ja',
		problems: {
			missing: 'Bitte ausfüllen.',
			missingChoice: 'Bitte auswählen.',
			notNumber: 'Das muss eine Zahl sein.',
			notInteger: 'Das muss eine ganze Zahl sein.',
			atLeast: (least) => `Mindestens ${whole(least)}.`,
			atMost: (most) => `Höchstens ${whole(most)}.`,
			tooShort: (least) => `Mindestens ${whole(least)} Zeichen.`,
			tooLong: (most) => `Höchstens ${whole(most)} Zeichen.`,
			pattern: 'Das hat nicht die Form, die das Werkzeug erwartet.',
			email: 'Das muss eine E-Mail-Adresse sein.',
			uri: 'Das muss eine Webadresse sein, etwa https://example.org.',
			date: 'Das muss ein Datum sein.',
			dateTime: 'Das müssen Datum und Uhrzeit sein.',
			tooFew: (least) => `Wähle mindestens ${whole(least)}.`,
			tooMany: (most) => `Wähle höchstens ${whole(most)}.`
		}
	},

	run: {
		output: 'Ausgabe des Programms',
		running: 'Läuft',
		done: 'Es ist gelaufen und hat nichts ausgegeben.',
		stopped: 'Du hast das Programm angehalten.',
		limits:
			'Es hat kein Internet und nur die Dateien, die in diesem Gespräch angehängt sind; Zeit und Speicher sind begrenzt. Seine Variablen bleiben für das nächste Programm.',
		hide: 'Ausgabe ausblenden',
		plot: (name) => `Bild: ${name}`
	},

	settings: {
		permissions: {
			title: 'Was ohne Nachfrage läuft',
			about:
				'Werkzeuge, die etwas ändern oder senden, fragen dich vorher, außer du hast sie hier erlaubt.',
			none: 'Nichts. Jedes Werkzeug, das etwas ändert oder sendet, fragt dich vorher.',
			everywhere: 'In allen Gesprächen',
			oneConversation: 'In einem Gespräch',
			since: (date) => `seit ${date}`,
			open: (tool) => `Das Gespräch von ${tool} öffnen`,
			revoke: 'Widerrufen',
			revokeLabel: (tool) => `${tool} widerrufen: Es fragt wieder`
		},
		offered: {
			title: 'Eingebaute Werkzeuge',
			about:
				'Du schaltest sie für ein Gespräch mit dem Werkzeugknopf neben dem Nachrichtenfeld ein.',
			none: 'Es gibt noch keine.',
			effects: {
				reads: 'liest nur',
				changes: 'ändert etwas, das du zurücknehmen kannst',
				writes: 'fragt vorher'
			}
		}
	}
};
