import { createNumberFormats } from '$/words/numbers';
import type { Words } from '$/words/words';

const { whole } = createNumberFormats('de');

export const tools: Words['tools'] = {
	menu: {
		label: 'Werkzeuge',
		labelOn: (count) => `Werkzeuge, ${whole(count)} an`,
		about: 'Was das Modell in diesem Gespräch benutzen darf.',
		aboutNew: 'Was das Modell benutzen darf. Neue Gespräche beginnen mit derselben Auswahl.',
		cannot: (model) => `${model} kann keine Werkzeuge benutzen. Wähle dafür ein anderes Modell.`,
		more: 'Werkzeuge und Erlaubnisse',
		command: 'werkzeuge',
		choose: 'Werkzeuge wählen',
		on: 'Eingeschaltete Werkzeuge',
		turnOff: (name) => `${name} ausschalten`,
		commandOn: (name) => `Einschalten: ${name}`,
		commandOff: (name) => `Ausschalten: ${name}`,
		numTools: (count) => (count === 1 ? '1 Werkzeug' : `${whole(count)} Werkzeuge`)
	},
	features: {
		calculator: {
			name: 'Rechner',
			command: 'rechner',
			about: 'Genaue Zahlen, Prozente und Einheiten'
		},
		time: {
			name: 'Datum und Uhrzeit',
			command: 'zeit',
			about: 'Tage zwischen Daten und Zeitzonen'
		},
		weather: { name: 'Wetter', command: 'wetter', about: 'Jetzt und in den nächsten Tagen' },
		conversations: {
			name: 'Frühere Gespräche',
			command: 'verlauf',
			about: 'Sucht in dem, was du und das Modell früher gesagt haben'
		},
		web: { name: 'Web', command: 'web', about: 'Sucht im Web und liest Seiten' },
		code: {
			name: 'Python',
			command: 'python',
			about: 'Kleine Programme, die das Modell schreibt und ausführt'
		}
	},
	calls: {
		label: 'Benutzte Werkzeuge',
		byTool: {
			calculate: { doing: 'Rechnet', done: 'Gerechnet' },
			calculate_date: { doing: 'Berechnet das Datum', done: 'Datum berechnet' },
			get_time: { doing: 'Sieht nach der Uhrzeit', done: 'Nach der Uhrzeit gesehen' },
			get_weather: { doing: 'Sieht nach dem Wetter', done: 'Nach dem Wetter gesehen' },
			search_conversations: {
				doing: 'Sucht in früheren Gesprächen',
				done: 'In früheren Gesprächen gesucht'
			},
			web_search: { doing: 'Sucht im Web', done: 'Im Web gesucht' },
			read_page: { doing: 'Liest eine Seite', done: 'Seite gelesen' },
			run_python: { doing: 'Führt Python aus', done: 'Python ausgeführt' },
			remember: { doing: 'Merkt sich etwas', done: 'Erinnerungen geändert' },
			forget: { doing: 'Vergisst etwas', done: 'Erinnerungen geändert' }
		},
		doing: (tool) => `Benutzt „${tool}“`,
		done: (tool) => `„${tool}“ benutzt`,
		on: (server) => `auf ${server}`,
		failed: (tool) => `„${tool}“ hat nicht geklappt`,
		invalid: (tool) => `Ungültiger Aufruf von „${tool}“, nicht ausgeführt`,
		refused: (tool) => `Du hast „${tool}“ nicht erlaubt`,
		stopped: (tool) => `Angehalten: „${tool}“`,
		interrupted: (tool) => `„${tool}“ wurde unterbrochen und nicht wiederholt`,
		undecided: (tool) => `„${tool}“ wurde nicht ausgeführt: Du hast nicht entschieden`,
		asking: (tool) => `Wartet auf dich: „${tool}“`,
		table: (rows, columns) => `${rows === 1 ? '1 Zeile' : `${whole(rows)} Zeilen`}: ${columns}`,
		sources: (count) => (count === 1 ? '1 Quelle' : `${whole(count)} Quellen`)
	},
	announce: {
		asks: (tool) => `Die Antwort wartet darauf, dass du „${tool}“ erlaubst`,
		form: (tool) => `Die Antwort wartet auf dich: „${tool}“ fragt dich etwas`
	},
	titleWaiting: (title) => `Wartet auf dich · ${title}`,
	run: {
		run: 'Ausführen',
		again: 'Noch einmal ausführen',
		stop: 'Anhalten'
	}
};
