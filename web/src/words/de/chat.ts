import { createNumberFormats } from '$/words/numbers';
import type { Words } from '$/words/words';

const { whole, rough, oneDigit, duration } = createNumberFormats('de');

export const chat: Words['chat'] = {
	messages: 'Nachrichten',
	openMenu: 'Menü öffnen',
	toNewest: 'Zum Neuesten',
	loading: 'Das Gespräch wird geöffnet',
	missing: {
		title: 'Dieses Gespräch lässt sich nicht öffnen',
		detail: 'Es wurde gelöscht, oder es gehört jemand anderem.'
	},
	unreachable: {
		title: 'Der Server ist nicht erreichbar',
		detail: 'Das Gespräch öffnet sich von selbst, sobald der Server antwortet.'
	},
	noSuchMessage: 'Diese Nachricht gibt es in dem Gespräch nicht mehr.',

	you: 'Du',
	answer: 'Antwort',
	copyMessage: 'Nachricht kopieren',
	copyAnswer: 'Antwort kopieren',
	editMessage: 'Nachricht bearbeiten',
	send: 'Senden',
	editHint: 'Die bisherige Nachricht bleibt erhalten, eine Fassung zurück.',

	previousVersion: 'Vorige Fassung',
	nextVersion: 'Nächste Fassung',
	version: (number, count) => `${number}/${count}`,
	versionAloud: (number, count) => `Fassung ${number} von ${count}`,

	answerAgain: 'Noch einmal antworten',
	answerWith: 'Anders antworten',
	answerWithTools: 'Mit Werkzeugen',
	answerWithoutTools: 'Ohne Werkzeuge',
	goOn: 'Weiterschreiben',
	tryAgain: 'Noch einmal versuchen',
	temperature: (value) => `Temperatur ${oneDigit(value)}`,
	lookInside: 'Hineinsehen',
	more: 'Mehr',
	readAloud: 'Vorlesen',
	stopReading: 'Vorlesen beenden',
	noVoice: 'Dieser Browser hat keine Stimme zum Vorlesen.',

	feedback: {
		good: 'Gute Antwort',
		bad: 'Schlechte Antwort',
		title: 'Was war daran nicht gut?',
		reason: 'Grund',
		reasons: {
			wrong: 'Sie stimmt nicht',
			not_helpful: 'Sie hilft nicht weiter',
			unsafe: 'Sie ist schädlich',
			style: 'Mir gefällt nicht, wie sie geschrieben ist',
			other: 'Etwas anderes'
		},
		text: 'In deinen eigenen Worten, wenn du magst',
		kept: 'Bleibt auf diesem Server, bei der Antwort.',
		send: 'Rückmeldung senden'
	},

	seen: {
		open: 'Was das Modell sah',
		updated: 'Gedächtnis geändert',
		updatedTo: (said: string) => `Gedächtnis geändert: ${said}`,
		said: (text: string) => `„${text}“`,
		undo: 'Rückgängig',
		undoLabel: 'Rückgängig: Gedächtnis geändert',
		notKept: 'Rückgängig gemacht: Das wird nicht behalten.',
		keptAgain: 'Rückgängig gemacht: Das wird wieder behalten.',
		temporary: 'Temporäre Chats merken sich nichts.',
		suggested: (text: string) => `Soll ich mir das merken? „${text}“`,
		yes: 'Ja',
		no: 'Nein',
		refused: 'Wird nicht behalten.',
		accepted: 'Gemerkt',
		settings: 'Wann gefragt wird',
		used: (count: number) =>
			`${whole(count)} ${count === 1 ? 'Erinnerung' : 'Erinnerungen'} benutzt`,
		left: ({ numSummarised, numRecalled, numDropped }) => {
			const parts = [
				[numSummarised, 'zusammengefasst'],
				[numRecalled, 'nachgeschlagen'],
				[numDropped, 'weggelassen']
			] as const;
			const told = parts.filter(([count]) => count > 0);
			const [first = 0] = told[0] ?? [];
			const noun = first === 1 ? 'ältere Nachricht' : 'ältere Nachrichten';
			return told
				.map(([count, what], i) => `${whole(count)} ${i === 0 ? `${noun} ` : ''}${what}`)
				.join(', ');
		}
	},

	temporary: {
		name: 'Temporärer Chat',
		about:
			'Er steht nicht in der Liste, benutzt und hinterlässt keine Erinnerungen und ist nach einem Tag weg.'
	},

	share: {
		open: 'Teilen …',
		title: 'Dieses Gespräch teilen',
		what: 'Eine Kopie zum Lesen von allem bis zu dieser Antwort. Was später gesagt wird, steht nicht darin, und dein Name auch nicht.',
		who: 'Wer den Link hat, kann sie lesen, bis du ihn zurückziehst.',
		make: 'Link erstellen',
		making: 'Der Link wird erstellt',
		link: 'Link',
		copy: 'Link kopieren',
		look: 'Geteilte Seite öffnen',
		revoke: 'Zurückziehen',
		revoked: 'Der Link gilt nicht mehr.'
	},

	thought: {
		running: 'Denkt nach…',
		label: 'Gedanken',
		took: (seconds) =>
			seconds < 1 ? 'Hat kurz nachgedacht' : `Hat ${whole(seconds)} s nachgedacht`
	},
	ending: {
		failed: 'Beim Antworten ist etwas schiefgegangen. Was gesagt war, ist erhalten.',
		unanswered: 'Diese Nachricht wurde nicht beantwortet.',
		unfinished: 'Diese Antwort wurde nie fertig.',
		stopped: 'Du hast diese Antwort angehalten.',
		cut: 'Du hast diese Antwort hier angehalten. Was der Server davon hat, erscheint, sobald er wieder erreichbar ist.',
		interrupted: 'Ein Neustart hat diese Antwort abgeschnitten.',
		length: 'Diese Antwort ist so lang, wie sie werden darf.',
		noWords: 'Das Modell hat Werkzeuge benutzt und dann keine Antwort geschrieben.'
	},

	state: {
		connecting: 'Verbindung zum Server wird aufgebaut',
		working:
			'Dieser Server verlangt etwas Rechenarbeit, bevor er eine Nachricht annimmt. Einen Moment',
		unsent: 'Du bist offline. Das hier geht hinaus, sobald du wieder verbunden bist.',
		offline:
			'Du bist offline. Die Antwort läuft weiter und wird geholt, sobald du wieder verbunden bist.',
		reconnecting: 'Die Verbindung ist abgerissen. Neuer Versuch',
		limit: (seconds) => `Zu viele Anfragen, neuer Versuch in ${seconds} s`,
		busy: (seconds) => `Der Server ist ausgelastet, neuer Versuch in ${seconds} s`,
		starting: 'Das Modell startet',
		restarting: 'Das Modell wird neu gestartet. Deine Nachricht ist sicher',
		down: 'Gerade kann kein Modell antworten. Warte, oder halte an und versuche es später',
		queued: (numAhead) =>
			numAhead === 0
				? 'Als Nächstes an der Reihe'
				: `In der Schlange, ${numAhead} ${numAhead === 1 ? 'Antwort' : 'Antworten'} davor`,
		loading: 'Das Modell wird geladen. Das dauert beim ersten Mal einen Augenblick',
		reading: 'Deine Nachricht wird gelesen',
		readingResult: 'Das Ergebnis wird gelesen',
		silent: (limit) => `Noch keine Antwort. Nach ${limit} s Stille wird sie aufgegeben`,
		stalled: 'Noch kein neues Wort',
		disk_full: 'Die Festplatte des Servers ist voll. Die Antwort wartet, bis wieder Platz ist',
		database_damaged: 'Die Datenbank des Servers ist beschädigt. Die Antwort wartet',
		store_down: 'Der Server kann gerade nichts speichern. Die Antwort wartet',
		stopping: 'Wird angehalten'
	},
	waited: (seconds) =>
		seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`,

	announce: {
		begun: 'Die Antwort beginnt',
		finished: (numWords) => `Antwort fertig, ${numWords} ${numWords === 1 ? 'Wort' : 'Wörter'}`,
		stopped: 'Antwort angehalten',
		interrupted: 'Die Antwort wurde abgeschnitten',
		blocked: 'Von der Sicherheitsprüfung aufgehalten',
		failed: 'Die Antwort ist gescheitert'
	},

	cost: {
		tokens: (count, isEstimated) => `${isEstimated ? 'etwa ' : ''}${whole(count)} Token`,
		speed: (perSecond) => `${rough(perSecond)} Token/s`,
		firstWord: (ms) => `erstes Wort nach ${duration(ms)}`,
		saved: (ms) => `vorausgelesen: ${duration(ms)} gespart`,
		cached: (count, of) => `${whole(count)} von ${whole(of)} Prompt-Token schon gelesen`,
		prompt: (count, isEstimated) => `${isEstimated ? 'etwa ' : ''}${whole(count)} Prompt-Token`
	},

	/** How answers are written. */
	preset: {
		model: {
			name: 'Wie das Modell ist',
			about: 'Die eigenen Werte des Modells. Meistens richtig.'
		},
		exact: {
			name: 'Genau',
			about: 'Bleibt bei den wahrscheinlichsten Wörtern. Für Fakten, Code und Zusammenfassungen.'
		},
		balanced: {
			name: 'Ausgewogen',
			about: 'Etwas Freiheit, wenig Risiko. Für alltägliche Fragen.'
		},
		inventive: {
			name: 'Einfallsreich',
			about: 'Wagt mehr und irrt sich öfter. Für Ideen, Namen und Geschichten.'
		},
		custom: { name: 'Eigene Werte', about: 'Für alle, die wissen, was sie tun.' }
	}
};
