import { createNumberFormats } from '$/words/numbers';
import type { InspectorWords } from '$/words/inspector';

const { whole, rough, oneDigit, duration } = createNumberFormats('de');

export const inspector: InspectorWords = {
	title: 'Im Inneren der Antwort',
	close: 'Schließen',
	loading: 'Wird geladen',
	erased:
		'Die Aufzeichnung dieser Antwort wurde gelöscht: Dieser Server bewahrt Aufzeichnungen nur eine Zeit lang auf.',
	steps: 'Schritte',
	prompt: 'Prompt',
	tokens: 'Token der Antwort',
	anyText: 'Beliebigen Text als Token sehen',
	together: (isExact) => `zusammen${isExact ? '' : ', geschätzt'}`,
	cached: 'davon schon gelesen',
	point:
		'Zeige auf ein Token oder geh mit den Pfeiltasten von einem zum nächsten, um zu sehen, wie wahrscheinlich es war.',
	noProbabilities: 'Wie wahrscheinlich diese waren, hat das Modell nicht gesagt.',
	tokenId: (id) => `Nummer ${id}`,
	chosen: 'Gewählt',
	instead: 'Stattdessen',
	source: {
		template: 'Vorlage',
		system: 'System',
		developer: 'Entwickler',
		profile: 'Profil',
		memory: 'Gedächtnis',
		recalled: 'wieder gezeigt',
		summary: 'Zusammenfassung',
		file: 'angehängt',
		tools: 'Liste der Werkzeuge',
		tool: 'Werkzeug',
		history: 'Verlauf',
		user: 'Nachricht',
		answer: 'Antwort bisher'
	},
	role: {
		system: 'System',
		developer: 'Entwickler',
		user: 'von dir',
		assistant: 'vom Modell',
		tool: 'Werkzeug'
	},
	ending: {
		stop: 'von selbst',
		length: 'bei der größten Länge',
		tool_calls: 'für ein Werkzeug',
		stopped: 'angehalten',
		interrupted: 'abgeschnitten',
		failed: 'gescheitert',
		blocked: 'durch die Sicherheitsprüfung'
	},
	safetyOutcome: {
		allow: 'in Ordnung',
		redact: 'persönliche Daten vor dem Modell verborgen',
		caution: 'mit Vorsicht beantwortet',
		rewrite: 'Preisgegebenes entfernt',
		review: 'zur Durchsicht gegeben',
		cut: 'abgebrochen',
		block: 'blockiert'
	},
	approvalReason: {
		writes: 'es ändert oder sendet etwas',
		untrusted: 'das Modell hatte Text von Fremden gelesen'
	},
	approvalDecision: {
		once: 'einmal erlaubt',
		conversation: 'in diesem Gespräch erlaubt',
		always: 'immer erlaubt',
		refused: 'abgelehnt',
		expired: 'nicht rechtzeitig entschieden'
	},
	formAction: { accept: 'gesendet', decline: 'abgelehnt', cancel: 'abgebrochen' },
	dropReason: {
		cut: 'die Antwort endete mittendrin',
		malformed: 'er ist nicht lesbar',
		unknown: 'dieses Werkzeug gibt es nicht'
	},
	step: {
		turnStarted: 'Runde begonnen',
		turnAccepted: 'Nachricht gespeichert',
		messageAdded: 'Nachricht hinzugefügt',
		contextBuilt: 'Kontext gebaut',
		characters: (listed) => `Zeichen: ${listed}`,
		promptEncoded: 'Prompt kodiert',
		encoded: (count, isExact, window) =>
			`${isExact ? '' : 'etwa '}${whole(count)} Token von einem Fenster mit ${whole(window)}`,
		leftOut: (count) =>
			count === 1
				? 'die älteste Nachricht weggelassen'
				: `${count} älteste Nachrichten weggelassen`,
		answerStarted: 'Antwort begonnen',
		answerDelayed: 'Antwort verzögert',
		ahead: (count) => `${count} davor`,
		modelLoading: 'das Modell wird geladen',
		promptWarmed: 'Im Voraus gelesen',
		warmed: (count, readMs) => `${whole(count)} Token vor dem Senden, in ${duration(readMs)}`,
		promptRead: 'Prompt gelesen',
		read: (cached, read) => `${whole(cached)} Token schon bekannt, ${whole(read)} gelesen`,
		waited: (waitedMs, readMs) => `${duration(waitedMs)} gewartet, in ${duration(readMs)} gelesen`,
		firstWords: 'Erste Wörter',
		messageScreened: 'Nachricht geprüft',
		answerGuarded: 'Antwort geprüft',
		memoriesChanged: 'Gedächtnis geändert',
		toolCallStarted: 'Werkzeugaufruf begonnen',
		toolArguments: 'Angaben des Aufrufs',
		toolAskedFor: 'Nach einem Werkzeug gefragt',
		toolCallDropped: 'Werkzeugaufruf verworfen',
		toolReturned: 'Werkzeug hat geantwortet',
		toolStarted: 'Werkzeug gestartet',
		toolProgressed: 'Werkzeug meldet',
		approvalRequested: 'Um Erlaubnis gefragt',
		approvalDecided: 'Über die Erlaubnis entschieden',
		formShown: 'Werkzeug hat etwas gefragt',
		formAnswered: 'Formular beantwortet',
		answerFinished: 'Antwort fertig',
		written: (count) => `${whole(count)} Token`,
		speed: (perSecond) => `${rough(perSecond)} je Sekunde`,
		searched: (count) => `${whole(count)} auf der Suche danach berechnet`,
		entropy: (bits) => `Entropie mindestens ${oneDigit(bits)} Bit`,
		surprisal: (bits) => `Überraschung ${oneDigit(bits)} Bit`,
		titleChosen: 'Titel gewählt',
		turnFinished: 'Runde beendet',
		turnFailed: 'Runde gescheitert'
	}
};
