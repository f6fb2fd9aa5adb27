import type { Words } from '$/words/words';

export const signIn: Words['signIn'] = {
	name: 'hitsend',
	promise:
		'Ein Chat, der dir gehört. Er läuft dort, wo du ihn laufen lässt, und zeigt, wie jede Antwort entstanden ist.',
	nameField: 'Name',
	passwordField: 'Passwort',
	nameRule: 'Damit meldest du dich an. Bis zu 64 Zeichen.',
	passwordRule: 'Mindestens 8 Zeichen.',
	nameMissing: 'Wähle einen Namen.',
	passwordMissing: 'Gib dein Passwort ein.',
	passwordShort: (missing) =>
		missing === 1 ? 'Noch ein Zeichen, bitte.' : `Noch ${missing} Zeichen, bitte.`,
	passwordWeak:
		'Das ist leicht zu erraten. Mach es länger, zum Beispiel mit ein paar Wörtern, die nichts miteinander zu tun haben: Häufige Wörter, dein Name, Jahreszahlen, Reihen und Wiederholungen helfen wenig.',
	nameTaken: 'Dieser Name ist vergeben. Wähle einen anderen.',
	wrong: 'Der Name oder das Passwort stimmt nicht.',
	inviteOver: 'Diese Einladung gilt nicht oder nicht mehr. Bitte um einen neuen Link.',
	busy: 'Einen Moment …',
	first: {
		title: 'Das erste Konto anlegen',
		about:
			'Hier hat noch niemand ein Konto. Dieses gehört der Administration und kann andere einladen.',
		lost: 'Auf diesem Server gab es Konten, aber seine Datenbank fehlt oder ist leer. Wenn du ihn betreibst, halte ihn an, und stelle eine Sicherung wieder her. Um neu anzufangen, lege hier das Konto der Administration an.',
		token: 'Einrichtungsschlüssel',
		tokenHint:
			'Er steht in der Ausgabe von hitsend beim Start, am Ende eines Links. Dieser Befehl zeigt ihn noch einmal: hitsend admin setup-link',
		tokenWrong: 'Das ist nicht der Einrichtungsschlüssel dieses Servers.',
		action: 'Konto anlegen'
	},
	signIn: {
		title: 'Anmelden',
		about: 'Noch kein Konto? Bitte deine Administration um einen Einladungslink.',
		action: 'Anmelden',
		nameMissing: 'Gib deinen Namen ein.',
		forgot: 'Passwort vergessen?',
		forgotAbout:
			'Bitte die Administration dieses Servers um einen Link zum Zurücksetzen. Sie legt ihn in den Einstellungen unter „Personen“ an.',
		forgotServer: 'Wer den Server betreibt, kann auch diesen Befehl benutzen:'
	},
	secondStep: {
		title: 'Noch ein Schritt',
		about: 'Dein Passwort stimmt. Zeige jetzt, dass du es bist.',
		usePasskey: 'Passkey benutzen',
		noPasskey:
			'Es wurde kein Passkey benutzt. Versuche es noch einmal, oder wähle einen anderen Weg.',
		code: 'Code aus deiner Authenticator-App',
		codeHint: 'Sechs Ziffern. Sie wechseln jede halbe Minute.',
		codeMissing: 'Gib den Code ein.',
		recoveryCode: 'Wiederherstellungscode',
		recoveryCodeHint: 'Einer von denen, die du aufbewahrt hast. Jeder gilt einmal.',
		useRecoveryCode: 'Wiederherstellungscode benutzen',
		hideRecoveryCode: 'Den Passkey benutzen',
		useApp: 'Die App benutzen',
		action: 'Weiter',
		wrong: {
			authenticator: 'Dieser Code stimmt nicht oder wurde schon benutzt. Warte auf den nächsten.',
			recovery_code: 'Dieser Wiederherstellungscode stimmt nicht oder wurde schon benutzt.',
			passkey: 'Dieser Passkey wurde nicht angenommen. Wähle einen anderen Weg.'
		},
		otherHosts: (hosts) => `Du hast Passkeys, die nur auf ${hosts} gelten.`,
		back: 'Von vorn beginnen',
		lost: 'Telefon und Wiederherstellungscodes verloren?',
		lostAbout: 'Wer den Server betreibt, kann deinen zweiten Schritt mit diesem Befehl entfernen:'
	},
	setUp: {
		title: 'Anmeldung in zwei Schritten einrichten',
		about: 'Dieser Server verlangt das. Füge eine Authenticator-App oder einen Passkey hinzu.',
		signOut: 'Abmelden'
	},
	reset: {
		title: 'Ein neues Passwort wählen',
		about: (name) =>
			`Für das Konto ${name}. Überall sonst wirst du abgemeldet. Der Link gilt einmal.`,
		password: 'Neues Passwort',
		revokeKeys: 'Auch meine API-Schlüssel löschen',
		keysAbout: (count) =>
			`${count === 1 ? 'Es gibt einen Schlüssel.' : `Es gibt ${count} Schlüssel.`} Lösche sie, wenn jemand anders sie gesehen haben könnte. Programme, die sie benutzen, funktionieren dann nicht mehr.`,
		action: 'Passwort speichern',
		over: 'Dieser Link gilt nicht oder nicht mehr. Bitte um einen neuen.',
		other: 'Zu hitsend'
	},
	resetNotice: {
		title: 'Dein Passwort wurde zurückgesetzt',
		byAdmin: (when, name) => `Am ${when}, mit einem Link von ${name}.`,
		byCommand: (when) => `Am ${when}, auf der Kommandozeile des Servers.`,
		about:
			'Warst du das nicht, dann konnte sich jemand anders als du anmelden: Ändere dein Passwort, und frag nach, wer den Link angelegt hat. Unter Einstellungen, Konto stehen alle Zurücksetzungen.',
		action: 'Gelesen'
	},
	signUp: {
		title: 'Du bist eingeladen',
		about: 'Wähle einen Namen und ein Passwort. Die Einladung gilt nur für dich und nur einmal.',
		action: 'Konto anlegen',
		other: 'Ich habe ein Konto: anmelden'
	},
	unreachable: {
		offlineTitle: 'Du bist offline',
		offline:
			'Dieses Gerät hat keine Verbindung. Sobald sie wieder da ist, geht es hier von selbst weiter.',
		title: 'Der Server ist nicht erreichbar',
		about:
			'Vielleicht startet er gerade, oder etwas liegt zwischen ihm und dir. Was du geschrieben hast, bleibt in diesem Browser erhalten.',
		trying: 'Versuche es …',
		next: (seconds) => `Nächster Versuch in ${seconds} s`,
		action: 'Noch einmal versuchen'
	}
};
