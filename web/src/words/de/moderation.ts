import type { ModerationWords } from '$/words/moderation';
import { createNumberFormats } from '$/words/numbers';

const { whole, duration } = createNumberFormats('de');

export const moderation: ModerationWords = {
	notice: {
		blocked: 'Diese Nachricht wurde nicht beantwortet',
		cut: 'Diese Antwort wurde hier abgebrochen',
		withheld: 'Diese Antwort wurde zurückgehalten',
		from: 'Dieser Hinweis kommt von deinem Server, nicht vom Modell.',
		rewritten: {
			link: 'Ein Link wurde entfernt',
			image: 'Ein Bild wurde entfernt',
			secret: 'Ein Passwort oder Schlüssel wurde entfernt',
			personal_data: 'Persönliche Daten wurden entfernt',
			instructions: 'Anweisungen dieses Servers wurden entfernt'
		},
		refused: 'Das Modell hat abgelehnt',
		unchecked: 'Nicht ganz geprüft',
		uncheckedAbout: 'Die Sicherheitsprüfung konnte nicht alles davon lesen.'
	},

	reasons: {
		harassment:
			'Sie liest sich wie ein Angriff auf einen Menschen. Wenn dich jemand angreift, frage, wie du antworten oder es melden kannst.',
		hate: 'Sie würdigt Menschen herab für das, was sie sind. Fragen über Hass, seine Geschichte und was dagegen hilft, sind willkommen.',
		illicit:
			'Sie bittet um Hilfe bei etwas, das anderen schaden oder gegen das Gesetz verstoßen würde. Du kannst fragen, wie es allgemein funktioniert oder wie man sich schützt.',
		weapons:
			'Sie fragt, wie man etwas herstellt oder benutzt, das Menschen töten oder verletzen kann. Nach Geschichte, Recht und Sicherheit kannst du fragen.',
		self_harm:
			'Vielleicht ist gerade alles sehr schwer. Du musst da nicht allein durch. Bitte sprich jetzt mit jemandem: Die Menschen oben hören zu.',
		sexual:
			'Sie fragt nach ausdrücklich sexuellen Inhalten, die dieser Server nicht bietet. Fragen zu Gesundheit, Beziehungen und Einvernehmen sind in Ordnung.',
		minors:
			'Sie sexualisiert ein Kind. Wenn ein Kind in Gefahr ist, rufe die Polizei. Wenn dir deine eigenen Gedanken Sorgen machen, hilft stopitnow.org vertraulich.',
		violence:
			'Sie bittet um Hilfe dabei, jemanden zu verletzen, oder heißt das gut. Wenn du oder jemand anders in Gefahr ist, wähle den Notruf.',
		jailbreak:
			'Sie fordert das Modell auf, seine Regeln abzulegen. Frage einfach, was du wissen willst: Das meiste ist in Ordnung.',
		injection:
			'Eine Datei oder Seite in diesem Gespräch versucht, dem Modell eigene Befehle zu geben.',
		personal_data: 'Sie enthält persönliche Daten, die dieser Server nicht weitergibt.',
		leak: 'Sie enthielt etwas, das nicht weitergegeben werden darf, etwa ein Passwort.',
		rule: 'Eine Regel dieses Servers lässt das nicht zu. Seine Administration kann dir mehr sagen.',
		unchecked:
			'Die Sicherheitsprüfung lief nicht, deshalb wurde nichts gesendet. Bitte versuche es gleich noch einmal.',
		answer: 'Die Antwort wurde schädlich.',
		other: 'Das könnte schaden. Wenn das ein Irrtum ist, sage es bitte.'
	},

	help: {
		title: 'Du bist nicht allein',
		about: 'Wenn es dir gerade sehr schlecht geht, kann Reden helfen. Diese Menschen hören zu.',
		call: (name, number) => `${name} anrufen: ${number}`,
		text: (how) => `Nachricht an ${how}`,
		emergency: 'Bei Lebensgefahr wähle',
		directory: 'Hilfe in jedem Land finden',
		failed: 'Die Nummern konnten nicht geladen werden. Hilfe in jedem Land:'
	},

	appeal: {
		ask: 'Überprüfung anfragen',
		title: 'Überprüfung anfragen',
		about:
			'Ein Mensch sieht sich diese Nachricht an und bis zu vier davor. Verborgene persönliche Daten bleiben verborgen.',
		words: 'Sollte man noch etwas wissen? (freiwillig)',
		send: 'Zur Überprüfung senden',
		waiting: (when) => `Überprüfung angefragt ${when}. Ein Mensch sieht sich das an.`,
		allowed: 'Bei der Überprüfung war das in Ordnung.',
		allowedToSend: 'Bei der Überprüfung war das in Ordnung. Du kannst es noch einmal senden.',
		upheld: 'Das wurde überprüft, und es bleibt bei der Entscheidung.',
		note: 'Dazu heißt es:',
		sendAgain: 'Noch einmal senden'
	},

	reviews: {
		about:
			'Nachrichten, die die Prüfung aufgehalten hat oder bei denen sie unsicher war, gemeldete Antworten und angefragte Überprüfungen. Du siehst die Nachricht und bis zu vier davor. Persönliche Daten bleiben verborgen.',
		open: 'Offen',
		decided: 'Entschieden',
		which: 'Welche Überprüfungen',
		noneOpen: 'Nichts wartet auf eine Überprüfung.',
		noneDecided: 'Noch ist nichts entschieden.',
		causes: {
			checks: 'Von der Prüfung aufgehalten',
			report: 'Gemeldet',
			appeal: 'Überprüfung angefragt'
		},
		unsure: 'Die Prüfung war unsicher',
		by: (name) => `von ${name}`,
		openOne: (name, cause) => `Öffnen: ${cause}, ${name}`,
		closeOne: 'Schließen',
		said: 'Was die Person dazu sagt',
		messages: 'Nachricht und Zusammenhang',
		roles: { user: 'Person', assistant: 'Antwort', tool: 'Werkzeug', system: 'Anweisungen' },
		reviewed: 'Darum geht es',
		gone: 'Die Nachricht wurde gelöscht.',
		empty: 'Nichts wurde gezeigt.',
		found: 'Was die Prüfung fand',
		note: 'Notiz an die Person (freiwillig)',
		allow: 'Das ist in Ordnung',
		allowAbout: 'Die Person darf diese Nachricht noch einmal senden.',
		uphold: 'Entscheidung beibehalten',
		harmful: 'Das ist schädlich',
		done: {
			allow: 'Entschieden: Das ist in Ordnung.',
			uphold: 'Entschieden: Das ist nicht in Ordnung.'
		},
		decisions: { allow: 'In Ordnung', uphold: 'Nicht in Ordnung' },
		decidedBy: (name, when) => `von ${name} ${when}`,
		deletedUser: 'Gelöschtes Konto',
		again: 'Das hat schon jemand anders entschieden.',
		older: 'Mehr zeigen',
		export: 'Entschiedene Überprüfungen exportieren',
		badge: (num) => `${whole(num)} ${num === 1 ? 'offene Überprüfung' : 'offene Überprüfungen'}`
	},

	policy: {
		title: 'Richtlinie',
		about:
			'Was mit Nachrichten und Antworten geschieht. Änderungen gelten ab der nächsten Nachricht. Gruppen ohne eigene Richtlinie folgen der für alle.',
		off: 'Die Sicherheitsprüfungen sind auf diesem Server ausgeschaltet (HITSEND_SAFETY).',
		noClassifier:
			'Kein Klassifikator ist installiert: Regeln, Wörter und persönliche Daten werden geprüft, Kategorien nicht.',
		scope: 'Gilt für',
		everyone: 'Alle',
		shipped: 'Mitgelieferte Richtlinie.',
		version: (num) => `${whole(num)}-mal geändert.`,
		follows: 'Folgt der Richtlinie für alle.',
		categories: 'Was bei jeder Kategorie geschieht',
		actions: {
			allow: 'Erlauben',
			caution: 'Mit Vorsicht antworten',
			review: 'Erlauben und überprüfen',
			block: 'Aufhalten'
		},
		unsure: 'Im Zweifel',
		unsureAbout: 'Für Nachrichten, die schädlich sein könnten, es aber wohl nicht sind.',
		judge: 'Im Zweifel den Richter fragen',
		judgeAbout: 'Ein Modell gibt eine zweite Meinung, wenn ein Richter eingerichtet ist.',
		redacted: 'Vor dem Modell verbergen',
		redactedAbout:
			'Das Modell sieht einen Platzhalter. Die Person sieht weiter, was sie geschrieben hat.',
		kinds: {
			key: 'Passwörter und Schlüssel',
			iban: 'Bankkonten (IBAN)',
			card: 'Kartennummern',
			email: 'E-Mail-Adressen',
			ssn: 'Sozialversicherungsnummern',
			tax_id: 'Steuernummern',
			phone: 'Telefonnummern'
		},
		answers: 'Antworten',
		watches: 'Antworten prüfen, während sie entstehen',
		holds: 'Ganze Sätze zurückhalten',
		holdsAbout:
			'Jeder Satz wird gelesen, bevor er gezeigt wird. Antworten erscheinen dann langsamer.',
		reviewsBlocks: 'Alles Aufgehaltene zur Überprüfung geben',
		closed: 'Wenn der Klassifikator nicht läuft',
		closedAbout: 'Aufhalten, statt mit dem Vermerk „Nicht ganz geprüft“ zu antworten:',
		routes: { chat: 'In Gesprächen', api: 'Bei Aufrufen mit einem API-Schlüssel' },
		phrases: 'Wörter und Wendungen',
		allowed: 'Immer erlaubt',
		allowedAbout: 'Eine je Zeile. Eine Nachricht damit wird nicht weiter geprüft.',
		denied: 'Immer aufgehalten',
		deniedAbout: 'Eine je Zeile. Hält Nachrichten auf und bricht Antworten ab.',
		badPhrase: 'Jede Zeile braucht 2 bis 200 Zeichen, und es dürfen höchstens 200 Zeilen sein.',
		save: 'Richtlinie speichern',
		saved: 'Die Richtlinie ist gespeichert.',
		reset: 'Auf die mitgelieferte zurücksetzen',
		resetGroup: 'Der Richtlinie für alle folgen',
		resetTitle: 'Diese Richtlinie zurücksetzen?',
		resetAbout: 'Deine Änderungen daran gehen verloren.',
		wasReset: 'Die Richtlinie ist zurückgesetzt.'
	},

	concerns: {
		harassment: 'Belästigung',
		'harassment/threatening': 'Drohungen gegen einen Menschen',
		hate: 'Hass',
		'hate/threatening': 'Hass mit Drohungen',
		illicit: 'Hilfe bei Straftaten',
		'illicit/violent': 'Waffen und Gewalttaten',
		'self-harm': 'Selbstverletzung',
		'self-harm/intent': 'Jemand könnte sich etwas antun',
		'self-harm/instructions': 'Anleitungen zur Selbstverletzung',
		sexual: 'Sexuelle Inhalte',
		'sexual/minors': 'Sexuelle Inhalte mit Minderjährigen',
		violence: 'Gewalt',
		'violence/graphic': 'Drastische Gewalt',
		jailbreak: 'Versuche, die Regeln abzulegen',
		injection: 'Versteckte Befehle in Dateien und Seiten',
		harm: 'Schaden aller Art',
		'answer harm': 'Schädliche Antwort',
		refusal: 'Ablehnung',
		denied_phrase: 'Gesperrte Wendung',
		unavailable: 'Klassifikator läuft nicht',
		link: 'Link, der Daten hinausträgt',
		image: 'Bild, das Daten hinausträgt',
		secret: 'Passwort oder Schlüssel',
		instructions: 'Anweisungen dieses Servers',
		personal_data: 'Persönliche Daten'
	},
	layers: {
		rule: 'Regel',
		personal_data: 'Persönliche Daten',
		classifier: 'Klassifikator',
		judge: 'Richter',
		leak: 'Leck',
		refusal: 'Ablehnung'
	},
	outcomes: {
		allow: 'Erlaubt',
		redact: 'Daten verborgen',
		caution: 'Mit Vorsicht beantwortet',
		rewrite: 'Umgeschrieben',
		review: 'Zur Überprüfung',
		cut: 'Abgebrochen',
		block: 'Aufgehalten'
	},

	tryOut: {
		title: 'Einen Text ausprobieren',
		about: 'Zeigt, was jede Prüfung von einem Text hält. Nichts wird gespeichert.',
		text: 'Text',
		run: 'Ausprobieren',
		stages: {
			prompt: 'Als Nachricht',
			document: 'Als Datei oder Webseite',
			answer: 'Als Antwort'
		},
		layer: 'Prüfung',
		found: 'Gefunden',
		score: 'Wert',
		nothing: 'Nichts gefunden.',
		redacted: 'Was das Modell sehen würde',
		unchanged: 'Keine persönlichen Daten zu verbergen.',
		scores: 'Werte des Klassifikators',
		noScores: 'Es gibt keinen Klassifikator und deshalb keine Werte.',
		decisions: { pass: 'unauffällig', ask: 'unsicher', block: 'sicher' },
		took: (ms) => `dauerte ${duration(ms)}`,
		incomplete: 'nicht ganz geprüft',
		usesEveryone: 'Diese Gruppe folgt der Richtlinie für alle.'
	},

	statistics: {
		title: 'Statistik',
		about: 'Was die Prüfungen getan haben, in Zahlen. Keine Nachricht steht hier.',
		span: 'Zeit',
		spans: { '7': '7 Tage', '30': '30 Tage', '90': '90 Tage' },
		none: 'In dieser Zeit wurde nichts geprüft.',
		checked: 'Geprüft',
		acted: 'Eingegriffen',
		incomplete: 'Nicht ganz geprüft',
		latency: 'Mittlere Zeit',
		most: 'Längste',
		byDay: 'Ergebnisse je Tag',
		byDayHint: 'Die Pfeiltasten gehen von Tag zu Tag.',
		day: 'Tag',
		byCategory: 'Nach Kategorie',
		noCategory: 'Keine Kategorie wurde gefunden.',
		byModel: 'Nach Modell und Fassung der Sicherheitsanweisungen',
		category: 'Kategorie',
		model: 'Modell',
		version: 'Fassung',
		count: 'Texte',
		rate: 'Eingegriffen',
		confidence: 'Mittlerer Wert',
		stage: 'Gelesen als',
		stages: { prompt: 'Nachricht', document: 'Datei', answer: 'Antwort' },
		unknown: '–',
		ms: (ms) => duration(ms)
	}
};
