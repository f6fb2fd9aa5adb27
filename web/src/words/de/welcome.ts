import type { Words } from '$/words/words';

export const welcome: Words['welcome'] = {
	title: 'Was beschäftigt dich?',
	suggestions: 'Vorschläge',
	ideas: {
		explain: {
			label: 'Code erklären lassen',
			about: 'Was er tut, Schritt für Schritt',
			text: 'Erkläre Schritt für Schritt, was dieser Code tut, und sag mir, was falsch aussieht:\n\n'
		},
		script: {
			label: 'Ein kleines Skript schreiben',
			about: 'Fertig zum Ausführen, mit Kommentaren',
			text: 'Schreibe ein kurzes Python-Skript, das die Fotos in einem Ordner nach ihrem Aufnahmedatum umbenennt. Kommentiere, was nicht offensichtlich ist.'
		},
		rewrite: {
			label: 'Bessere Worte finden',
			about: 'Kürzer, klarer, freundlicher',
			text: 'Formuliere das kurz, klar und freundlich um:\n\n'
		},
		learn: {
			label: 'Etwas verstehen',
			about: 'In einfachen Worten, mit Beispiel',
			text: 'Erkläre jemandem, der noch nie programmiert hat, wie eine Hashtabelle funktioniert. Nimm ein Beispiel aus dem Alltag.'
		}
	},
	model: (title, goodAt) => `Hier antwortet ${title}. ${goodAt}.`,
	inside:
		'Unter jeder Antwort zeigt „Hineinsehen“, was das Modell gelesen und wie es seine Worte gewählt hat.'
};
