import type { MemoryWords } from '$/words/memory';

const many = (count: number, one: string, several: string) =>
	`${count.toLocaleString('de')} ${count === 1 ? one : several}`;

export const memory: MemoryWords = {
	use: {
		title: 'Gedächtnis',
		about:
			'Was auf deine Bitte behalten wird, kommt wieder zur Sprache, wenn eine Frage davon handelt.',
		isOn: 'Gedächtnis benutzen',
		isOnAbout: 'Im Chat wirken „merk dir, dass …“ und „vergiss …“.',
		suggests: 'Erinnerungen vorschlagen',
		suggestsAbout:
			'Nach einer Antwort wirst du manchmal gefragt, ob etwas behalten werden soll. Ohne dein Ja wird nichts behalten.',
		offTitle: 'Gedächtnis ausschalten?',
		offAbout: 'Keine Antwort benutzt dann noch Erinnerungen.',
		offTotal: (total: number) => `Du hast ${many(total, 'Erinnerung', 'Erinnerungen')}.`,
		offChoice: 'Behalte für später, was da ist, oder lösche alles endgültig.',
		keep: 'Ausschalten und behalten',
		wipe: 'Ausschalten und alles löschen',
		wiped: 'Das Gedächtnis ist aus, und alle Erinnerungen sind gelöscht.',
		turnedOff: 'Das Gedächtnis ist aus. Die Erinnerungen bleiben, werden aber nicht benutzt.',
		turnedOn: 'Das Gedächtnis ist an.'
	},

	list: {
		title: 'Was behalten wird',
		total: (count: number) => many(count, 'Erinnerung', 'Erinnerungen'),
		found: (count: number) => `${many(count, 'Erinnerung', 'Erinnerungen')} gefunden`,
		search: 'Erinnerungen durchsuchen',
		noneFound: (query: string) => `Keine Erinnerung enthält „${query}“.`,
		add: 'Etwas zum Merken',
		addPlaceholder: 'Ich vertrage keine Nüsse.',
		addAction: 'Merken',
		added: 'Gemerkt.',
		addedUnshown:
			'Gemerkt, aber dem Modell nicht gezeigt: Es sagt, was zu tun ist. Wie Antworten sein sollen, gehört zu „Über dich“.',
		unshown:
			'Dem Modell nicht gezeigt: Es sagt, was zu tun ist, und nichts über dich. Wie Antworten sein sollen, gehört zu',
		missing: 'Schreib, was behalten werden soll.',
		more: 'Mehr zeigen',
		emptyTitle: 'Noch wird nichts behalten',
		emptyAbout: 'Sag es in einem Chat mit deinen Worten, oder schreib es oben hin. Zum Beispiel:',
		examples: [
			'Merk dir, dass ich Vegetarier bin.',
			'Merk dir, dass meine Tochter Mia heißt.',
			'Vergiss, dass ich in Berlin wohne.'
		],
		origins: {
			asked: 'aus einem Chat',
			written: 'hier geschrieben',
			suggested: 'aus einem Vorschlag'
		},
		openChat: 'Chat öffnen',
		suggestion: 'vorgeschlagen',
		accept: 'Merken',
		refuse: 'Nein',
		edit: (text: string) => `„${text}“ bearbeiten`,
		forget: (text: string) => `„${text}“ vergessen`,
		text: 'Erinnerung',
		save: 'Speichern',
		forgotten: 'Vergessen.',
		export: 'Als Datei exportieren',
		clear: 'Alles vergessen',
		clearTitle: 'Alles vergessen?',
		clearAbout: (total: number) =>
			`${many(total, 'Erinnerung verschwindet', 'Erinnerungen verschwinden')} sofort und endgültig. Es gibt keinen Weg zurück.`,
		clearType: (word: string) => `Tippe „${word}“ zur Bestätigung`,
		clearWord: 'vergessen',
		clearAction: 'Alles vergessen',
		cleared: 'Alles ist vergessen.'
	},

	profile: {
		title: 'Über dich',
		about: 'Das Modell erfährt es mit jeder Nachricht, auch in temporären Chats.',
		isOn: 'Dem Modell von mir erzählen',
		callMe: 'Wie soll ich dich nennen?',
		callMePlaceholder: 'Ada',
		aboutMe: 'Was soll man über dich wissen?',
		aboutMeHint: 'Was du tust, was du weißt, was dir wichtig ist.',
		style: 'Wie sollen Antworten sein?',
		styleHint: 'Zum Beispiel: kurz, mit Beispielen, ohne Lob.',
		save: 'Speichern',
		offNote: 'Es ist aus: Was hier steht, bleibt, und niemand erfährt es.',
		tooLong: (count: number, most: number) =>
			`Das sind ${count.toLocaleString('de')} Zeichen, höchstens ${most.toLocaleString('de')} passen hinein.`
	},

	used: {
		title: 'Benutzte Erinnerungen',
		gone: (count: number) =>
			`${count === 1 ? 'Eine davon wurde' : `${count.toLocaleString('de')} davon wurden`} seitdem vergessen.`,
		settings: 'Alle Erinnerungen'
	},

	context: {
		title: 'Was das Modell sah',
		about: 'Neben den neuesten Nachrichten und deiner Frage.',
		none: 'Nichts als die Unterhaltung selbst.',
		whole: 'Es sah die ganze Unterhaltung.',
		partOf: (numDropped: number) =>
			numDropped === 0
				? 'Von den älteren Nachrichten sah es, was unten steht.'
				: `Von den älteren Nachrichten sah es, was unten steht; ${many(numDropped, 'blieb', 'blieben')} weg.`,
		from: 'Zur ersten Nachricht, die es ganz sah',
		tokens: (count: number) => many(count, 'Token', 'Tokens'),
		window: 'Womit das Fenster gefüllt war',
		sources: {
			template: 'Die Form des Prompts',
			system: 'Anweisungen',
			developer: 'Anweisungen des Programms',
			profile: 'Über dich',
			memory: 'Erinnerungen',
			summary: 'Zusammenfassungen',
			recalled: 'Nachgeschlagen',
			file: 'Dateien',
			tools: 'Verfügbare Werkzeuge',
			tool: 'Werkzeuge',
			history: 'Unterhaltung',
			user: 'Deine Nachricht',
			answer: 'Die Antwort bisher'
		},
		profile: 'Über dich',
		memories: 'Erinnerungen',
		summaries: 'Zusammenfassungen älterer Nachrichten',
		recalled: 'In älteren Nachrichten nachgeschlagen',
		jump: 'Zur Nachricht gehen',
		prompts: 'Prompts',
		version: (name: string, version: number) => `${name}, Version ${version}`
	}
};
