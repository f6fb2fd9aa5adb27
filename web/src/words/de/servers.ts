/** Werkzeug-Server in den Einstellungen. */
import type { ServerWords } from '$/words/servers';

const count = (num: number, one: string, several: string) => `${num} ${num === 1 ? one : several}`;

export const servers: ServerWords = {
	title: 'Werkzeug-Server',
	about:
		'Weitere Werkzeuge von anderen Servern (MCP), etwa für Dateien, Kalender oder Tickets. Bevor eines etwas ändert, wirst du gefragt.',
	none: 'Es gibt noch keine Server.',
	cannotAdd: 'Hier fügen nur Administratoren Server hinzu.',
	callback: {
		title: 'Anmeldung',
		about: 'hitsend schließt deine Anmeldung beim Server ab.',
		leave: 'Zurück zu den Einstellungen'
	},
	add: {
		title: 'Server hinzufügen',
		kind: 'Wo ist er?',
		kinds: { http: 'Unter einer Adresse', command: 'Ein Programm hier' },
		name: 'Name',
		nameHint: 'Die Namen seiner Werkzeuge beginnen damit.',
		nameMissing: 'Gib dem Server einen Namen.',
		url: 'Adresse',
		urlMissing: 'Gib die Adresse des Servers ein.',
		command: 'Programm und Argumente',
		commandHint:
			'Es läuft auf diesem Rechner mit den Rechten von hitsend. Füge nur Programme hinzu, denen du vertraust. Keine Shell liest die Zeile.',
		commandMissing: 'Gib das Programm ein.',
		environment: 'Umgebungsvariablen',
		environmentHint:
			'Je Zeile NAME=Wert. Werte werden verschlüsselt gespeichert und nie wieder angezeigt.',
		headers: 'Header',
		headersHint:
			'Je Zeile Name: Wert, etwa Authorization: Bearer … Verschlüsselt gespeichert und nie wieder angezeigt. Nicht nötig, wenn der Server eine Anmeldung hat.',
		pairsWrong: 'Jede Zeile braucht einen Namen und einen Wert.',
		more: 'Mehr',
		clientId: 'OAuth-Client-ID',
		clientIdHint: 'Nur wenn die Anmeldung des Servers hitsend nicht selbst registrieren kann.',
		clientSecret: 'OAuth-Client-Secret',
		action: 'Server hinzufügen'
	},
	audience: {
		label: 'Wer ihn benutzen darf',
		names: { owner: 'Nur ich', everyone: 'Alle', groups: 'Gruppen' },
		groups: 'Gruppen',
		noGroups: 'Es gibt keine Gruppen. Sie entstehen unter „Gruppen“.'
	},
	state: {
		off: 'Aus',
		unused: 'Noch nicht benutzt. Er wird verbunden, wenn ein Werkzeug gerufen wird.',
		connecting: 'Verbindet',
		connected: 'Verbunden',
		no_tools: 'Verbunden, bietet aber keine Werkzeuge an.',
		sign_in: 'Melde dich an, um ihn zu benutzen.',
		failed: (problem) => problem,
		retry: (seconds) => `Nächster Versuch in ${count(seconds, 'Sekunde', 'Sekunden')}.`
	},
	signedIn: 'Angemeldet',
	numTools: (num) => count(num, 'Werkzeug', 'Werkzeuge'),
	numTokens: (num) => `etwa ${count(num, 'Token', 'Token')} jeder Nachricht`,
	changed: (num) => `${count(num, 'Werkzeug', 'Werkzeuge')} zum Ansehen`,
	program: 'Programm',
	open: (name) => `${name} zeigen`,
	close: (name) => `${name} verbergen`,
	isOn: 'An',
	test: 'Verbindung testen',
	testing: 'Verbindet. Vielleicht muss ein Programm erst geladen werden.',
	signIn: 'Anmelden',
	signOut: 'Abmelden',
	tools: {
		title: 'Werkzeuge',
		none: 'Noch sind keine Werkzeuge bekannt. Teste die Verbindung.',
		use: (name) => `${name} benutzen`,
		readOnly: 'Liest nur: ohne Nachfrage ausführen',
		readOnlyHint:
			'Nur markieren, wenn du sicher bist. Was der Server über sich sagt, ist kein Beleg.',
		saysReadOnly: 'liest nach eigener Angabe nur',
		isNew: 'neu',
		isMissing: 'nicht mehr angeboten',
		isChanged: 'geändert',
		changedAbout: 'Der Server hat dieses Werkzeug geändert. Es ist aus, bis du es angesehen hast.',
		before: 'Vorher',
		now: 'Jetzt',
		confirm: 'So benutzen, wie es jetzt ist',
		parameters: 'Argumente'
	},
	edit: {
		title: 'Ändern',
		timeout: 'Längste Dauer eines Aufrufs in Sekunden',
		timeoutWrong: 'Erlaubt sind 1 bis 600 Sekunden.',
		headersNow: (names) => `Jetzt gesetzt: ${names}. Was du eingibst, ersetzt alle.`,
		keep: 'Leer lassen, um zu behalten, was gesetzt ist.',
		save: 'Speichern'
	},
	calls: {
		title: 'Letzte Aufrufe',
		about: 'Ohne das, was gesagt wurde.',
		none: 'Noch wurde nichts gerufen.',
		outcomes: {
			ok: 'fertig',
			failed: 'fehlgeschlagen',
			unreachable: 'nicht erreicht',
			timeout: 'dauerte zu lange',
			stopped: 'angehalten'
		},
		took: (ms) => `${ms} ms`,
		chars: (num) => `${num} Zeichen`
	},
	log: {
		title: 'Protokoll',
		about: 'Was das Programm schrieb und wie Verbindungen verliefen, seit hitsend läuft.',
		none: 'Noch ist nichts geschehen.',
		show: 'Protokoll zeigen'
	},
	remove: 'Server löschen',
	removeTitle: (name) => `${name} löschen?`,
	removeAbout:
		'Seine Werkzeuge, Anmeldungen und letzten Aufrufe werden gelöscht. Gespräche behalten, was gesagt wurde.',
	removeAction: 'Löschen'
};
