import type { SettingsWords } from '$/words/settings';

const many = (count: number, one: string, several: string) =>
	`${count.toLocaleString('de')} ${count === 1 ? one : several}`;

export const settings: SettingsWords = {
	title: 'Einstellungen',
	sections: 'Bereiche der Einstellungen',
	all: 'Alle Einstellungen',
	administration: 'Administration',
	names: {
		account: 'Konto',
		keys: 'API-Schlüssel',
		appearance: 'Darstellung',
		chat: 'Gespräch',
		profile: 'Über dich',
		memory: 'Gedächtnis',
		tools: 'Werkzeuge',
		usage: 'Verbrauch',
		shares: 'Geteilte Links',
		data: 'Daten',
		people: 'Personen',
		groups: 'Gruppen',
		invites: 'Einladungen',
		models: 'Modelle',
		limits: 'Grenzen',
		safety: 'Sicherheit',
		reviews: 'Überprüfungen',
		everyone: 'Verbrauch aller',
		prices: 'Preise',
		prompts: 'Prompts',
		comparisons: 'Fassungen vergleichen',
		activity: 'Aktivitätsprotokoll'
	},
	saved: 'Gespeichert.',
	again: 'Noch einmal versuchen',
	loading: 'Wird geladen',
	roles: { admin: 'Administration', reviewer: 'Durchsicht', member: 'Mitglied' },

	account: {
		signedInAs: (name, isAdmin) => `Angemeldet als ${name}${isAdmin ? ', Administration' : ''}.`,
		signOut: 'Abmelden',
		signOutFailed:
			'Du bist noch angemeldet: Der Server war nicht erreichbar. Versuche es noch einmal.',
		name: 'Name',
		nameAbout: 'Damit meldest du dich an, und die Administration sieht ihn.',
		newName: 'Dein Name',
		nameMissing: 'Ein Name hat mindestens ein Zeichen.',
		nameTaken: 'Dieser Name ist vergeben. Wähle einen anderen.',
		rename: 'Namen ändern',
		password: 'Passwort',
		passwordAbout: 'Alle anderen Browser, in denen du angemeldet bist, werden abgemeldet.',
		current: 'Jetziges Passwort',
		next: 'Neues Passwort',
		nextRule: 'Mindestens 8 Zeichen.',
		currentMissing: 'Gib dein jetziges Passwort ein.',
		passwordWrong: 'Das ist nicht dein Passwort.',
		revokeKeys: 'Auch meine API-Schlüssel löschen',
		revokeKeysAbout:
			'Falls jemand anders sie gesehen haben könnte. Programme, die sie benutzen, funktionieren dann nicht mehr.',
		changePassword: 'Passwort ändern',
		passwordChanged: 'Dein Passwort ist geändert. Deine anderen Browser sind abgemeldet.',
		resets: {
			title: 'Zurückgesetzte Passwörter',
			about:
				'Links, mit denen dein Passwort zurückgesetzt werden konnte. Niemand kann sie aus dieser Liste entfernen.',
			byAdmin: (name) => `Link von ${name}`,
			byCommand: 'Auf der Kommandozeile des Servers',
			made: (when) => `angelegt ${when}`,
			used: (when) => `benutzt ${when}`,
			unused: 'nicht benutzt'
		},
		sessions: 'Wo du angemeldet bist',
		sessionsAbout: (days) =>
			`Ein Browser bleibt ${many(days, 'Tag', 'Tage')} lang angemeldet. Melde ab, was du nicht kennst.`,
		browserOn: (browser, system) => `${browser} auf ${system}`,
		unknownBrowser: 'Ein Browser',
		thisOne: 'dieser hier',
		lastSeen: (when) => `Zuletzt gesehen ${when}`,
		since: (day) => `angemeldet ${day}`,
		endSession: (browser) => `${browser} abmelden`,
		end: 'Abmelden',
		danger: 'Konto löschen',
		dangerAbout: 'Endgültig und mit allem, was dazugehört. Es gibt keinen Weg zurück.',
		deleteAction: 'Mein Konto löschen',
		deleteTitle: 'Dein Konto löschen?',
		deleteAbout: 'Das alles verschwindet sofort und endgültig:',
		deleteList: [
			'alle Gespräche, Ordner und Bewertungen',
			'alle Links, die du geteilt hast: Niemand kann sie mehr öffnen',
			'deine API-Schlüssel: Programme, die sie benutzen, funktionieren nicht mehr',
			'dein Name und dein Passwort; du wirst überall abgemeldet'
		],
		deleteHint: 'Wenn du etwas davon noch einmal lesen möchtest, exportiere vorher deine Daten.',
		deletePassword: 'Dein Passwort',
		lastAdmin: 'Nur du verwaltest diesen Server. Übertrage das vorher jemand anderem.'
	},

	keys: {
		about:
			'Für Programme, die in deinem Namen mit hitsend sprechen: OpenAI-Clients unter /v1, MCP-Hosts unter /mcp.',
		label: 'Bezeichnung eines neuen Schlüssels',
		labelHint: 'Wo er benutzt wird, damit du ihn wiedererkennst.',
		labelMissing: 'Gib dem Schlüssel eine Bezeichnung.',
		may: 'Was er darf',
		scopes: {
			chat: { name: 'Chatten', about: 'Nachrichten senden und /v1 benutzen.' },
			read: {
				name: 'Lesen',
				about:
					'Deine Unterhaltungen und deinen Verbrauch lesen. Zusammen mit „Chatten“ auch umbenennen und löschen.'
			},
			memory: {
				name: 'Erinnerungen',
				about:
					'Über MCP deine Erinnerungen lesen, hinzufügen und löschen. Ein Schlüssel ohne dieses Recht sieht keine.'
			},
			admin: { name: 'Verwalten', about: 'Was die Administration in den Einstellungen tut.' }
		},
		scopeMissing: 'Wähle mindestens eine Sache, die der Schlüssel darf.',
		expiry: 'Läuft ab',
		validFor: (days) => (days === 'never' ? 'Nie' : `Nach ${days} Tagen`),
		create: 'Schlüssel anlegen',
		once: 'Kopiere ihn jetzt: Er wird nur dieses eine Mal gezeigt.',
		copy: 'Schlüssel kopieren',
		none: 'Du hast keine Schlüssel.',
		created: (day) => `angelegt ${day}`,
		lastUsed: (when) => `zuletzt benutzt ${when}`,
		neverUsed: 'nie benutzt',
		expires: (day) => `läuft ab am ${day}`,
		neverExpires: 'läuft nie ab',
		expired: 'abgelaufen',
		expiredOn: (day) => `abgelaufen am ${day}`,
		remove: (label) => `Schlüssel ${label} löschen`,
		removeTitle: 'Diesen Schlüssel löschen?',
		removeAbout: (label) =>
			`Programme, die „${label}“ benutzen, können sich nicht mehr anmelden. Ein gelöschter Schlüssel kommt nicht zurück.`,
		removeAction: 'Schlüssel löschen',
		how: 'So benutzt du einen Schlüssel',
		curl: 'curl',
		python: 'Python',
		copySnippet: 'Beispiel kopieren',
		example: 'Was ist eine Monade?'
	},

	appearance: {
		about: 'Wird in diesem Browser behalten, für dieses Gerät.',
		theme: 'Design',
		themes: { system: 'System', light: 'Hell', dark: 'Dunkel' },
		textSize: 'Schriftgröße',
		textSizes: { small: 'Klein', normal: 'Normal', large: 'Groß' },
		density: 'Dichte',
		densities: { airy: 'Luftig', compact: 'Kompakt' },
		language: 'Sprache',
		automatic: 'Wie der Browser es möchte'
	},

	chat: {
		presets: 'Wie Antworten geschrieben werden',
		presetsAbout: 'Für deine nächsten Nachrichten, in diesem Browser.',
		modelDecides: 'das Modell entscheidet',
		policies: 'Wie Wörter gewählt werden',
		policy: {
			sample: {
				name: 'Zufällig',
				about: 'Zieht jedes Wort aus den wahrscheinlichen. Richtig für das meiste.'
			},
			greedy: {
				name: 'Gierig',
				about: 'Nimmt immer das wahrscheinlichste Wort. Gleiche Frage, gleiche Antwort.'
			},
			beam: {
				name: 'Strahlsuche',
				about:
					'Verfolgt mehrere Antworten und behält die, die im Ganzen am wahrscheinlichsten ist. Nur für kurze Antworten; langsam, und Wörter erscheinen spät.'
			}
		},
		fields: {
			temperature: {
				name: 'Temperatur',
				about: 'Höher wagt mehr; 0 nimmt immer das Wahrscheinlichste.'
			},
			top_p: { name: 'Top-p', about: 'Wählt aus den Wörtern, die zusammen diesen Anteil haben.' },
			top_k: {
				name: 'Top-k',
				about: 'Wählt aus so vielen wahrscheinlichsten Wörtern; 0 ist alle.'
			},
			min_p: {
				name: 'Min-p',
				about: 'Lässt weg, was viel unwahrscheinlicher ist als das Wahrscheinlichste.'
			},
			num_beams: {
				name: 'Strahlen',
				about: 'Wie viele Antworten verfolgt werden; leer sind es 4.'
			},
			max_tokens: { name: 'Längste Antwort', about: 'In Token; eines ist etwa ¾ eines Wortes.' },
			seed: { name: 'Startwert', about: 'Gleicher Startwert und gleiche Frage: gleiche Antwort.' }
		},
		range: (least, most) => `${least} bis ${most}`,
		above: (least, most) => `mehr als ${least}, bis ${most}`,
		notANumber: 'Hier muss eine Zahl stehen.',
		notWhole: 'Hier muss eine ganze Zahl stehen.',
		outOfRange: (range) => `Möglich ist: ${range}.`,
		emptyHint: 'Ein leeres Feld überlässt es dem Modell.',
		writing: 'Während du schreibst',
		writingAbout:
			'In diesem Browser. Was du schreibst, geht dafür an deinen eigenen Server und wird dort nicht gespeichert.',
		readAhead: 'Antworten vorbereiten, während ich schreibe',
		readAheadAbout:
			'Das Modell liest das Gespräch und deinen Entwurf voraus, damit die Antwort früher beginnt. Ausgeschaltet wird der Server nur gefragt, wie lang eine lange Nachricht ist.',
		ghostText: 'Vorschlagen, wie ein Satz weitergeht',
		ghostTextAbout:
			'Graue Wörter hinter der Schreibmarke; Tab übernimmt sie. Nur wo der Server schnell genug ist.',
		reports: 'Dem Server sagen, wie schnell die Seite ist',
		reportsAbout:
			'Wie lange eine Antwort gebraucht hat, und die Namen von Fehlern in der Seite. Nie, was du schreibst.',
		instructions: 'Anweisungen',
		instructionsAbout:
			'Das wird dem Modell vor jedem Gespräch gesagt. Wer diesen Server betreibt, legt es fest (HITSEND_INSTRUCTIONS).',
		noInstructions: 'Dem Modell wird nichts gesagt.'
	},

	shares: {
		about: 'Wer so einen Link hat, kann das Gespräch lesen, wie es beim Teilen war.',
		forbidden: 'Teilen ist auf diesem Server ausgeschaltet.',
		none: 'Du hast nichts geteilt. Unter jeder Antwort findest du „Teilen“.',
		untitled: 'Ohne Titel',
		sharedOn: (day) => `geteilt ${day}`,
		open: (title) => `Geteilte Seite von ${title} öffnen`,
		copy: (title) => `Link zu ${title} kopieren`,
		remove: (title) => `${title} nicht mehr teilen`,
		removeTitle: 'Nicht mehr teilen?',
		removeAbout: (title) =>
			`Der Link zu „${title}“ funktioniert dann für niemanden mehr. Das Gespräch selbst bleibt.`,
		removeAction: 'Nicht mehr teilen'
	},

	data: {
		storage: 'Speicherplatz',
		storageAbout:
			'Was deine Gespräche belegen, mit der Aufzeichnung jeder Antwort. Gezählt wird einige Sekunden nach einer Antwort.',
		used: (size) => `Du belegst ${size}.`,
		usedOf: (size, most) => `Du belegst ${size} von ${most}.`,
		storageFull: 'Lösche Gespräche, die du nicht mehr brauchst, um weiterzuschreiben.',
		export: 'Export',
		exportAbout:
			'Alles von dir in einer Zip-Datei: Gespräche als JSON und als Markdown, dazu dein Konto.',
		exportAction: 'Alles exportieren',
		exportBegun: 'Der Download hat begonnen. Dein Browser zeigt, wie weit er ist.',
		import: 'Import',
		importAbout:
			'Gespräche aus einem Export von ChatGPT (Zip), von Open WebUI (JSON) oder von hitsend. Was du hast, bleibt, wie es ist.',
		choose: 'Datei auswählen',
		drop: 'oder hier ablegen',
		atMost: (size) => `Höchstens ${size}.`,
		tooLarge: (name, size) => `${name} ist zu groß. Dieser Server nimmt höchstens ${size}.`,
		notAFile:
			'Das ist weder eine Zip- noch eine JSON-Datei. Wähle die Datei so, wie du sie heruntergeladen hast.',
		reading: (name) => `${name} wird gelesen. Lass diese Seite offen.`,
		refused: (name) => `${name} wurde nicht importiert, und nichts hat sich geändert.`,
		others: 'Die anderen importieren',
		again: 'Noch einmal versuchen',
		sources: { chatgpt: 'ChatGPT', open_webui: 'Open WebUI', hitsend: 'hitsend' },
		done: (conversations, messages, source) =>
			`${many(conversations, 'Gespräch', 'Gespräche')} mit ${many(messages, 'Nachricht', 'Nachrichten')} von ${source} übernommen.`,
		nothingNew: (source) => `In diesem Export von ${source} war nichts Neues.`,
		alreadyHere: (count) => `${many(count, 'Gespräch war', 'Gespräche waren')} schon hier.`,
		leftOut: (count) => `${many(count, 'Gespräch wurde', 'Gespräche wurden')} ausgelassen:`,
		leftOutMore: (count) => `und ${count.toLocaleString('de')} weitere`,
		untitled: 'Ohne Titel',
		parts: 'Nur Text wird übernommen. Aus den Gesprächen ausgelassen:',
		part: {
			images: (count) => many(count, 'Bild', 'Bilder'),
			files: (count) => many(count, 'Datei', 'Dateien'),
			tools: (count) => many(count, 'Werkzeugaufruf', 'Werkzeugaufrufe'),
			other: (count) => many(count, 'anderer Teil', 'andere Teile')
		}
	},

	people: {
		about: 'Alle, die hier ein Konto haben. Was sie schreiben, gehört ihnen: Du siehst es nicht.',
		you: 'du',
		disabled: 'gesperrt',
		conversations: (count) => many(count, 'Gespräch', 'Gespräche'),
		joined: (day) => `hier seit ${day}`,
		lastSeen: (when) => `zuletzt gesehen ${when}`,
		neverSeen: 'noch nicht gesehen',
		menu: (name) => `Was mit ${name} geschehen soll`,
		make: {
			admin: 'Zur Administration machen',
			reviewer: 'Zur Durchsicht machen',
			member: 'Zum Mitglied machen'
		},
		disable: 'Sperren',
		enable: 'Entsperren',
		reset: 'Passwort zurücksetzen …',
		resetTitle: (name) => `Das Passwort von ${name} zurücksetzen?`,
		resetAbout:
			'Du bekommst einen Link, den du der Person schickst. Damit wählt sie ein neues Passwort: einmal, innerhalb eines Tages. Ihr jetziges Passwort gilt bis dahin weiter, frühere Links gelten nicht mehr. Sie erfährt, dass du ihn angelegt hast, und es steht im Protokoll.',
		resetAction: 'Link anlegen',
		resetOnce: 'Schicke diesen Link nur dieser Person. Er wird nur dieses eine Mal gezeigt.',
		remove: 'Löschen',
		now: {
			admin: (name) => `${name} gehört jetzt zur Administration.`,
			reviewer: (name) => `${name} gehört jetzt zur Durchsicht.`,
			member: (name) => `${name} ist jetzt Mitglied.`
		},
		nowDisabled: (name) =>
			`${name} ist überall abgemeldet und kann sich bis zum Entsperren nicht anmelden.`,
		nowEnabled: (name) => `${name} kann sich wieder anmelden.`,
		removed: (name) => `Das Konto von ${name} ist gelöscht.`,
		removeTitle: (name) => `Das Konto von ${name} löschen?`,
		removeAbout: (count) =>
			`Es verschwindet endgültig, mit ${many(count, 'Gespräch', 'Gesprächen')}, allen geteilten Links und API-Schlüsseln. Wenn jemand nur eine Weile draußen bleiben soll, sperre das Konto.`,
		removeAction: 'Konto löschen'
	},

	invites: {
		about: 'Mit einem Link kann eine Person hier ein Konto anlegen. Er gilt eine Woche.',
		member: 'Mitglied einladen',
		admin: 'Administration einladen',
		reviewer: 'Durchsicht einladen',
		once: 'Schicke diesen Link einer Person. Er wird nur dieses eine Mal gezeigt.',
		copy: 'Link kopieren',
		none: 'Keine Einladung ist offen.',
		made: (day) => `angelegt ${day}`,
		openUntil: (day) => `offen bis ${day}`,
		expired: (day) => `abgelaufen ${day}`,
		used: (name) => `benutzt von ${name}`,
		remove: 'Einladung zurückziehen',
		removeTitle: 'Diese Einladung zurückziehen?',
		removeAbout: 'Ihr Link funktioniert dann nicht mehr. Wer ihn hat, braucht einen neuen.',
		removeAction: 'Zurückziehen'
	},

	models: {
		here: 'Auf diesem Server',
		hereAbout: 'Alle hier können jedes davon wählen.',
		none: 'Die Engine bietet gerade kein Modell an.',
		isDefault: 'Standard',
		offers: 'Zum Herunterladen',
		offersAbout: 'Die Gewichte werden auf diesen Server geladen und geprüft.',
		noOffers: 'Diese Engine hat nichts zum Herunterladen.',
		allHere: 'Alles aus dem Katalog ist hier.',
		remove: (title) => `${title} entfernen`,
		removeTitle: (title) => `${title} entfernen?`,
		removeAbout: (size) =>
			`Die Gewichte (${size}) werden von diesem Server gelöscht. Man kann sie wieder herunterladen. Gespräche bleiben.`,
		removeAction: 'Modell entfernen'
	}
};
