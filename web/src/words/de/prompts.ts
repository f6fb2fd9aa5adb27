import { createNumberFormats } from '$/words/numbers';
import type { PromptWords } from '$/words/prompts';

const { whole, rough, percent, duration } = createNumberFormats('de');
const many = (count: number, one: string, several: string) =>
	`${whole(count)} ${count === 1 ? one : several}`;

const known: PromptWords['known'] = {
	system: { name: 'Systemanweisung', about: 'Womit jede Unterhaltung beginnt.' },
	safety_instructions: {
		name: 'Sicherheitsanweisung',
		about: 'Was ein Modell ablehnt, was es behutsam beantwortet, und an wen es Menschen verweist.'
	},
	safety_judge: {
		name: 'Prüfung auf Schaden',
		about: 'Fragt ein Modell, ob ein Text schadet, wo der Klassifikator unsicher ist.'
	},
	caution_note: {
		name: 'Notiz: Vorsicht',
		about: 'Sagt dem Modell, wie es eine Frage beantwortet, die schaden könnte.'
	},
	title: { name: 'Titel', about: 'Fragt nach dem Titel einer Unterhaltung.' },
	summary: {
		name: 'Zusammenfassung',
		about: 'Fasst ein Stück einer Unterhaltung zusammen, das nicht mehr hineinpasst.'
	},
	summary_of_summaries: {
		name: 'Zusammenfassung von Zusammenfassungen',
		about: 'Macht in sehr langen Unterhaltungen aus mehreren Zusammenfassungen eine.'
	},
	summary_note: {
		name: 'Notiz: Zusammenfassungen',
		about: 'Stellt die Zusammenfassung vor das, was von einer Unterhaltung geblieben ist.'
	},
	profile_note: {
		name: 'Notiz: Profil',
		about: 'Sagt dem Modell, was jemand über sich selbst sagt.'
	},
	memory_note: {
		name: 'Notiz: Erinnerungen',
		about: 'Stellt die passenden Erinnerungen vor eine Frage.'
	},
	recalled_note: {
		name: 'Notiz: Früheres',
		about: 'Stellt ältere Teile der Unterhaltung vor eine Frage, die von ihnen handelt.'
	},
	memory_tool: {
		name: 'Merken und vergessen',
		about: 'Sagt dem Modell, wie es darum bittet, etwas zu merken oder zu vergessen.'
	},
	memory_done: {
		name: 'Gedächtnis geändert',
		about: 'Sagt dem Modell, dass etwas gemerkt oder vergessen wurde, oder warum nicht.'
	},
	memory_suggestion: {
		name: 'Vorschläge zum Merken',
		about: 'Fragt, was von einer Nachricht zu merken sich lohnt.'
	},
	suggestion: {
		name: 'Wie ein Satz weitergeht',
		about: 'Fragt nach den grauen Wörtern hinter der Schreibmarke.'
	}
};

const units = {
	points: (low: number, high: number) =>
		`${rough(low * 100)} bis ${rough(high * 100)} Prozentpunkte`,
	tokens: (low: number, high: number) => `${rough(low)} bis ${rough(high)} Tokens`,
	time: (low: number, high: number) => `${duration(low)} bis ${duration(high)}`
};

const slots: PromptWords['slots'] = {
	'caution_note.self_harm': 'Es kann darum gehen, sich selbst etwas anzutun.',
	'caution_note.help': 'Hilfe in der Nähe der Person, mit Nummern.',
	'caution_note.illicit': 'Es kann um Hilfe bei einer Straftat gehen.',
	'caution_note.violence': 'Es kann darum gehen, andere zu verletzen.',
	'caution_note.hate': 'Es kann Menschen herabsetzen oder angreifen.',
	'caution_note.sexual': 'Es kann sexuell sein.',
	'caution_note.jailbreak': 'Es kann darauf zielen, dass das Modell seine Regeln fallen lässt.',
	'caution_note.injection': 'Eine Datei, Seite oder Erinnerung kann dem Modell Befehle geben.',
	'memory_done.added': 'Was gemerkt wurde.',
	'memory_done.has_removed': 'Etwas wurde vergessen. Was es war, wird nicht wiederholt.',
	'memory_done.changed_nothing': 'Es war nichts zu finden, was vergessen werden könnte.',
	'memory_done.asks_for_all':
		'Alles soll vergessen werden; in einer Unterhaltung geschieht das nicht.',
	'memory_done.is_german': 'Die Person schreibt Deutsch.',
	'memory_done.is_secret': 'Was gemerkt werden soll, sieht nach einem Passwort oder Schlüssel aus.',
	'memory_done.is_full': 'Es ist schon so viel gemerkt, wie es sein kann.',
	'memory_note.memories': 'Je ein Text.',
	'memory_suggestion.message': 'Was die Person gesagt hat.',
	'profile_note.call_me': 'Wie sie genannt werden möchte.',
	'profile_note.about_me': 'Was von ihr bekannt sein soll.',
	'profile_note.style': 'Wie Antworten sein sollen.',
	'recalled_note.exchanges': 'Je ein Text: was gefragt und was geantwortet wurde.',
	'suggestion.instructions': 'Wie in `system`: Was dafür gelesen ist, ist auch hierfür gelesen.',
	'summary.conversation': 'Das Stück, als `Person: …` und `Assistant: …`.',
	'summary_note.summaries': 'Je ein Text für jedes Stück, das älteste zuerst.',
	'summary_of_summaries.parts': 'Die Zusammenfassungen, die älteste zuerst.',
	'system.instructions': 'Die Anweisungen dessen, der den Server betreibt (HITSEND_INSTRUCTIONS).',
	'title.question': 'Die erste Nachricht, auf wenige Zeilen gekürzt.'
};

export const prompts: PromptWords = {
	known,
	slots,
	version: (version) => `Fassung ${version}`,
	versionsOf: (versions) => `Fassungen ${versions.join(', ')}`,
	somebody: 'jemand, den es hier nicht mehr gibt',

	about:
		'Was hitsend selbst dem Modell sagt, für alle. Eine Änderung gilt ab der nächsten Nachricht.',
	all: 'Alle Prompts',
	shipped: 'von hitsend',
	own: 'eigene',
	comparing: 'wird verglichen',
	ownDecoding: 'eigene Dekodierung',

	versions: 'Fassungen',
	versionsAbout:
		'Was du aktivierst, gilt für alle ab der nächsten Nachricht. Vorhandene Antworten bleiben, wie sie sind.',
	active: 'aktiv',
	misfit: 'passt nicht mehr',
	leftOut: (problem) => `wird niemandem gesagt: ${problem}`,
	inComparison: 'im Vergleich',
	by: (name) => `von ${name}`,
	activate: 'Aktivieren',
	activateVersion: (version) => `Aktivieren: Fassung ${version}`,
	rollBack: 'Zurückkehren',
	rollBackTo: (version) => `Zurückkehren zu Fassung ${version}`,
	writeFrom: (version) => `Neue Fassung aus Fassung ${version} schreiben`,
	activated: (version) => `Ab der nächsten Nachricht gilt Fassung ${version}.`,
	compare: 'Fassungen vergleichen',
	held: 'Ein Vergleich läuft und bestimmt, wer welche Fassung bekommt. Beende ihn, um eine zu aktivieren.',

	text: 'Text',
	textAbout: 'Eine Fassung, oder was sich von einer zur anderen ändert.',
	from: 'Von',
	to: 'Zu',
	identical: 'Beide sind gleich.',
	places: (count) => `${many(count, 'Stelle ist', 'Stellen sind')} verschieden.`,
	removed: 'entfernt:',
	added: 'hinzugefügt:',
	families: 'Für manche Modelle lautet die Fassung von hitsend anders:',
	familyOf: (family) => `Modelle mit „${family}“ im Namen`,

	editor: {
		title: (version) => `Neue Fassung, aus Fassung ${version}`,
		template: 'Vorlage',
		hint: '{{ slot }} zeigt ein Feld, {% if slot %} … {% endif %} was davon abhängt.',
		sections: 'Eine Zeile „=== user“ oder „=== assistant“ beginnt eine eigene Nachricht.',
		slots: 'Felder',
		insert: (name) => `${name} einfügen`,
		needed: 'muss vorkommen',
		kinds: {
			text: 'Text',
			data: 'Text von anderswo, als Daten gezeigt',
			list: 'eine Liste',
			flag: 'ja oder nein'
		},
		note: 'Was neu ist (für die anderen)',
		tryOut: 'Ausprobieren',
		save: 'Als neue Fassung behalten',
		empty: 'Schreib eine Vorlage.',
		unchanged: 'Das ist die Fassung, mit der du begonnen hast. Ändere zuerst etwas.',
		goTo: (line) => `Zu Zeile ${line}`,
		tried: 'Mit Beispielwerten wird dem Modell gesagt:',
		roles: { system: 'System', user: 'Person', assistant: 'Assistent' },
		nothing: 'Nichts.',
		saved: (version) =>
			`Fassung ${version} ist aufgehoben. Niemand bekommt sie, bevor du sie aktivierst.`
	},

	decoding: {
		title: 'Dekodierung',
		about: 'Wie die Antwort auf diesen Prompt gewählt wird. Ein leeres Feld ist wie von hitsend.',
		aboutChat:
			'Wie Antworten in Chats gewählt werden, wo die Person nichts anderes verlangt. Für Programme, die die API benutzen, gilt es nicht. Ein leeres Feld ist wie von hitsend.',
		otherwise: (value) => `sonst ${value}`,
		modelDecides: 'entscheidet das Modell',
		save: 'Speichern',
		reset: 'Wie von hitsend'
	},

	comparisons: {
		about:
			'Jede Person bekommt eine der Fassungen, immer dieselbe. Was daraus wird, wird gezählt, und nichts behauptet, was Zufall sein könnte.',
		begin: 'Neuer Vergleich',
		prompt: 'Prompt',
		choose: 'Fassungen, die verglichen werden',
		chooseHint: 'Zwei bis vier. Die anderen werden an der ältesten gemessen.',
		tooFew: 'Wähle mindestens zwei Fassungen.',
		tooMany: 'Wähle höchstens vier Fassungen.',
		needsTwo: 'Es gibt nur eine Fassung. Schreib unter „Prompts“ eine weitere.',
		busy: 'Ein Vergleich dieses Prompts läuft schon.',
		start: 'Vergleich beginnen',
		running: 'Laufende',
		noneRunning: 'Es läuft kein Vergleich.',
		past: 'Frühere Vergleiche',
		nonePast: 'Noch keiner ist beendet.',
		since: (when) => `begonnen ${when}`,
		ended: (when) => `beendet ${when}`,
		won: (version) => `Fassung ${version} wurde behalten`,
		noWinner: 'ohne Sieger',
		show: (name) => `Zahlen zeigen: ${name}`,
		refresh: 'Neu zählen',
		end: 'Beenden',
		endAbout: 'Das Ende gilt für alle, ab der nächsten Nachricht.',
		keep: 'Ohne Sieger beenden',
		keepAbout: (version) => `Fassung ${version} gilt wieder, wie zuvor.`,
		win: (version) => `Beenden, Fassung ${version} behalten`,
		done: 'Der Vergleich ist beendet.'
	},

	report: {
		people: (count) => many(count, 'Person', 'Personen'),
		turns: (count) => many(count, 'Antwort', 'Antworten'),
		thumbs: (up, down) => `${whole(up)} hoch, ${whole(down)} runter`,
		measures: {
			liked: 'Daumen hoch, von denen, die einen gaben',
			declined: 'Antworten, die ablehnen',
			answer_tokens: 'Länge der Antworten',
			input_tokens: 'Länge dessen, was das Modell liest',
			first_word_ms: 'Warten auf das erste Wort',
			seconds: 'Zeit bis zum letzten Wort'
		},
		said: {
			liked: percent,
			declined: percent,
			answer_tokens: (value) => `${rough(value)} Tokens`,
			input_tokens: (value) => `${rough(value)} Tokens`,
			first_word_ms: (value) => duration(value),
			seconds: (value) => duration(value * 1000)
		},
		between: (low, high) => `${low} bis ${high}`,
		unknown: 'zu wenige',
		none: 'noch nichts',
		bars: 'Im Balken liegt die Wahrheit in 19 von 20 Fällen; der Strich darin ist, was gesehen wurde. Jede Person zählt einmal.',
		tooFew: (least, few) =>
			`Noch lässt sich nichts sagen: Jede Fassung braucht mindestens ${least} Personen, und ${few}.`,
		has: (version, count) => `Fassung ${version} hat ${whole(count)}`,
		unclear:
			'Noch lässt sich nichts sagen: Jeder Unterschied, der zu sehen ist, könnte Zufall sein.',
		is: { better: 'besser', worse: 'schlechter', more: 'mehr', less: 'weniger' },
		differs: (version, first, is, what, by) =>
			`Fassung ${version} gegen Fassung ${first}: ${is} (${what}, ein Unterschied von ${by}).`,
		by: {
			liked: units.points,
			declined: units.points,
			answer_tokens: units.tokens,
			input_tokens: units.tokens,
			first_word_ms: units.time,
			seconds: (low, high) => units.time(low * 1000, high * 1000)
		}
	}
};
