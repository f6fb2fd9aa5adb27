import { createNumberFormats } from '$/words/numbers';
import type { UsageWords } from '$/words/usage';

const { whole, duration, when } = createNumberFormats('de');
const many = (count: number, one: string, several: string) =>
	`${whole(count)} ${count === 1 ? one : several}`;

export const usage: UsageWords = {
	change: (title) => `Ändern: ${title}`,
	save: 'Speichern',
	notANumber: 'Hier muss eine Zahl stehen.',
	notWhole: 'Hier muss eine ganze Zahl stehen.',
	outOfRange: (most) => `Möglich ist: 0 bis ${most}.`,

	limits: {
		all: 'Für alle',
		allAbout:
			'Grenzen für jede Person, solange für ihre Gruppe oder sie selbst nichts anderes gilt. Niemand überschreitet eine Grenze, auch wenn viele zugleich fragen.',
		everyone: 'Alle',
		address: 'Jede Adresse',
		addressAbout: 'für jede Netzadresse, gleich wer von dort fragt',
		groups: 'Für Gruppen',
		groupsAbout:
			'Anstelle derer für alle. Die Token eines Tages teilen sich alle, die in der Gruppe sind.',
		noGroups: 'Es gibt keine Gruppen. Sie werden unter „Gruppen“ angelegt.',
		people: 'Für Personen und ihre Schlüssel',
		peopleAbout:
			'Für wen eigene Werte gelten, für den gelten nur diese, dazu der Tag der Gruppe. Die Werte eines Schlüssels gelten neben denen der Person.',
		fields: {
			requests_per_minute: 'Anfragen pro Minute',
			tokens_per_minute: 'Token pro Minute',
			tokens_per_day: 'Token pro Tag',
			storage_mb: 'Speicherplatz in MB'
		},
		groupFields: {
			tokens_per_day: 'Token pro Tag, gemeinsam',
			storage_mb: 'Speicherplatz in MB, pro Person'
		},
		said: {
			requests_per_minute: (num) => `${many(num, 'Anfrage', 'Anfragen')} pro Minute`,
			tokens_per_minute: (num) => `${whole(num)} Token pro Minute`,
			tokens_per_day: (num) => `${whole(num)} Token pro Tag`,
			storage_mb: (num) => `${whole(num)} MB Speicherplatz`
		},
		hint: 'Ein leeres Feld ist ohne Grenze; 0 erlaubt nichts.',
		addressHint:
			'Alle hinter einem Router teilen sich eine Adresse. Bei IPv6 zählt ein Netz (/64) als eine.',
		none: 'keine Grenze',
		asEveryone: 'wie alle',
		asGroup: (name) => `wie die Gruppe ${name}`,
		own: 'eigene',
		key: (label) => `Schlüssel ${label}`,
		remove: 'Entfernen'
	},

	rules: {
		title: 'Durch die Einstellungen des Servers',
		about:
			'Was dieser Server erlaubt. Wer ihn betreibt, legt es unter den genannten Namen fest und startet ihn neu.',
		on: 'an',
		off: 'aus',
		none: 'keine',
		names: {
			instructions: 'Anweisungen für jedes Gespräch',
			max_message_chars: 'Längste Nachricht, in Zeichen',
			max_answer_tokens: 'Längste Antwort, in Token',
			num_window_tokens: 'Fenster des Modells, in Token',
			max_import_bytes: 'Größter Import',
			session_days: 'Ein Browser bleibt angemeldet, in Tagen',
			allow_sharing: 'Teilen per Link'
		}
	},

	groups: {
		about:
			'Wer in einer Gruppe ist, teilt sich mit den anderen, was sie am Tag verbrauchen darf. Grenzen stehen unter „Grenzen“; wer in welcher Gruppe ist, unter „Personen“.',
		name: 'Name einer neuen Gruppe',
		create: 'Gruppe anlegen',
		missing: 'Gib der Gruppe einen Namen.',
		taken: 'Eine Gruppe mit diesem Namen gibt es schon. Wähle einen anderen.',
		none: 'Es gibt keine Gruppen.',
		people: (num) => many(num, 'Person', 'Personen'),
		rename: (name) => `${name} umbenennen`,
		newName: 'Neuer Name',
		remove: (name) => `${name} löschen`,
		removeTitle: (name) => `Die Gruppe ${name} löschen?`,
		removeAbout: (num) =>
			num === 0
				? 'Ihre Grenzen verschwinden mit ihr.'
				: `Ihre Grenzen verschwinden mit ihr. ${num === 1 ? 'Die Person darin bleibt' : `Die ${whole(num)} Personen darin bleiben`}, ohne Gruppe.`,
		removeAction: 'Gruppe löschen',
		tools: (name) => `Werkzeuge von ${name}`,
		toolsAbout: 'Was Personen in dieser Gruppe für eine Nachricht einschalten können.',
		allTools: 'Alle Werkzeuge',
		allToolsAbout: 'Auch solche, die später dazukommen.',
		toolNames: {
			calculator: 'Rechner',
			time: 'Zeit und Datum',
			weather: 'Wetter',
			code: 'Python ausführen',
			web: 'Im Web suchen und lesen',
			conversations: 'Frühere Gespräche durchsuchen'
		},
		notSetUp: (settings) => `Nicht eingerichtet. Dafür ${settings} setzen.`,
		close: 'Fertig',
		numTools: (num) => many(num, 'Werkzeug', 'Werkzeuge'),
		of: (name) => `Gruppe von ${name}`,
		noGroup: 'Keine Gruppe',
		moved: (name, group) => `${name} ist jetzt in der Gruppe ${group}.`,
		takenOut: (name) => `${name} ist jetzt in keiner Gruppe.`
	},

	usage: {
		left: 'Was noch übrig ist',
		leftAbout: 'Tage beginnen um Mitternacht, UTC. Token aus dem Cache zählen wie andere auch.',
		noLimits: 'Für dich gilt keine Grenze.',
		kinds: {
			requests: 'Anfragen in dieser Minute',
			tokensMinute: 'Token in dieser Minute',
			tokensDay: 'Token heute'
		},
		groupDay: (name) => `Token heute, gemeinsam für ${name}`,
		leftOf: (left, limit) => `noch ${whole(left)} von ${whole(limit)}`,
		again: (at) => `wieder alles ${when(at, 'um')}`,
		used: 'Verbraucht',
		usedAbout: 'Token jeder Antwort, auch der abgebrochenen und derer, die du gelöscht hast.',
		usedByAllAbout: 'Token jeder Antwort von allen. Was gesagt wurde, ist hier nicht zu sehen.',
		span: 'Zeitraum',
		spans: { '7': '7 Tage', '30': '30 Tage', '90': '90 Tage' },
		none: (num) => `In den letzten ${num} Tagen wurde nichts verbraucht.`,
		day: 'Tag',
		chart: 'Token nach Tagen',
		chartHint: 'Die Pfeiltasten gehen von Tag zu Tag.',
		tokens: (num) => `${whole(num)} Token`,
		answers: (num) => many(num, 'Antwort', 'Antworten'),
		total: 'Token',
		turns: 'Antworten',
		input: 'Eingabe',
		output: 'Ausgabe',
		cached: 'Aus dem Cache',
		cachedAbout: 'der Eingabe',
		cost: 'Kosten',
		costUnknown: 'unbekannt',
		costUnknownAbout: 'ein Modell hat keinen Preis',
		noCost: 'Kosten unbekannt',
		details: (input, output) => `Eingabe ${input}, Ausgabe ${output}`,
		cachedShare: (share) => `${share} aus dem Cache`,
		models: 'Nach Modell',
		people: 'Nach Person',
		groups: 'Nach Gruppe',
		gone: 'Nicht mehr hier',
		noGroups: 'Niemand in einer Gruppe hat etwas verbraucht.'
	},

	prices: {
		about: (currency) =>
			`Was eine Million Token kostet, in ${currency} (HITSEND_CURRENCY). Freiwillig: Der Verbrauch zeigt dann auch Kosten. Niemand muss zahlen.`,
		none: 'Es gibt kein Modell, das einen Preis haben könnte.',
		fields: { input: 'Eingabe', cached: 'Eingabe aus dem Cache', output: 'Ausgabe' },
		cachedHint: 'Leer: wie andere Eingabe.',
		said: (input, cached, output) => [
			`Eingabe\u00a0${input}`,
			`aus\u00a0dem\u00a0Cache\u00a0${cached}`,
			`Ausgabe\u00a0${output}`
		],
		unset: 'kein Preis',
		remove: 'Entfernen'
	},

	speed: {
		title: 'Wie bald Antworten beginnen',
		about:
			'Bis zum ersten Token, für die letzten tausend Antworten: wie der Server es gemessen und wie Browser es gesehen haben. Die Hälfte war schneller als die erste Zahl, 95 von 100 schneller als die zweite.',
		none: 'Noch wurde nichts gemessen.',
		model: 'Modell',
		server: 'Am Server',
		browsers: 'Im Browser',
		half: 'Hälfte',
		most: '95 %',
		answers: 'Antworten',
		ms: (ms) => duration(ms),
		errors: 'Fehler in Seiten',
		errorsAbout: 'Namen und Orte von dem, was in einem Browser schiefging, ohne jeden Text.',
		error: (count, when) => `${whole(count)}-mal, zuletzt ${when}`
	}
};
