import type { SecondFactorWords } from '$/words/secondFactor';

export const secondFactor: SecondFactorWords = {
	title: 'Anmeldung in zwei Schritten',
	off: 'Aus. Mit einem zweiten Schritt kann sich auch jemand, der dein Passwort kennt, nicht als du anmelden.',
	on: 'An. Nach dem Passwort fragt die Anmeldung nach einem Code oder einem Passkey.',
	required:
		'Dieser Server verlangt einen zweiten Schritt, deshalb lässt sich der letzte nicht entfernen.',
	added: (day) => `hinzugefügt am ${day}`,
	neverUsed: 'noch nicht benutzt',
	lastUsed: (when) => `zuletzt benutzt ${when}`,
	removeTitle: 'Das entfernen?',
	removeAction: 'Entfernen',
	turnOff: 'Zweiten Schritt abschalten',
	turnOffAbout:
		'Deine App, deine Passkeys und deine Wiederherstellungscodes werden entfernt. Dann genügt dein Passwort zum Anmelden.',
	app: {
		name: 'Authenticator-App',
		add: 'Authenticator-App hinzufügen',
		replace: 'Authenticator-App ersetzen',
		remove: 'Die Authenticator-App entfernen',
		removeAbout: 'Die Codes deiner Authenticator-App gelten hier dann nicht mehr.',
		title: 'Eine Authenticator-App hinzufügen',
		scan: 'Scanne dieses Bild mit einer Authenticator-App auf deinem Telefon.',
		picture: 'QR-Code für die Authenticator-App',
		orType: 'Oder tippe diesen Schlüssel in die App:',
		copyKey: 'Den Schlüssel kopieren',
		code: 'Code aus der App',
		codeHint: 'Sechs Ziffern. Sie wechseln jede halbe Minute.',
		codeMissing: 'Gib die sechs Ziffern ein, die die App zeigt.',
		codeWrong: 'Dieser Code stimmt nicht. Geht die Uhr deines Telefons richtig?',
		action: 'App hinzufügen'
	},
	passkey: {
		add: 'Passkey hinzufügen',
		title: 'Dem Passkey einen Namen geben',
		name: 'Name',
		nameHint: 'Damit du ihn wiedererkennst, etwa „Telefon“ oder „Blauer Schlüssel“.',
		nameMissing: 'Gib dem Passkey einen Namen.',
		action: 'Passkey speichern',
		failed: 'Es wurde kein Passkey angelegt. Versuche es noch einmal, oder füge eine App hinzu.',
		elsewhere: (host) => `nur auf ${host}`,
		remove: (name) => `Den Passkey ${name} entfernen`,
		removeAbout: (name) => `${name} gilt hier dann nicht mehr. Lösche ihn auch auf deinem Gerät.`,
		impossible:
			'Passkeys brauchen einen Browser, der sie kann, HTTPS (oder localhost) und einen Hostnamen statt einer IP-Adresse.'
	},
	recovery: {
		title: 'Deine Wiederherstellungscodes',
		once: 'Bewahre diese Codes sicher auf: Sie werden nur jetzt gezeigt. Mit jedem kannst du dich einmal anmelden, wenn du dein Telefon oder deinen Passkey verlierst.',
		list: 'Wiederherstellungscodes',
		copy: 'Alle Codes kopieren',
		saved: 'Ich habe sie gespeichert',
		left: (count) =>
			count === 1
				? 'Ein Wiederherstellungscode ist übrig.'
				: `${count} Wiederherstellungscodes sind übrig.`,
		replace: 'Neue Wiederherstellungscodes'
	},
	password: {
		title: 'Bestätige, dass du es bist',
		about: 'Wer ändern will, wie die Anmeldung geht, braucht das Passwort.',
		action: 'Weiter'
	}
};
