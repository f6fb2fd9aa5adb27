import type { Words } from '$/words/words';

/** What kind of thing it is. What exactly, only the server knows, and it says so in English. */
const kinds: Record<string, string> = {
	not_allowed: 'Das ist hier nicht erlaubt',
	too_large: 'Das ist zu groß',
	rate_limit_exceeded: 'Das waren zu viele Versuche',
	model_not_found: 'Dieses Modell gibt es hier nicht',
	model_broken: 'Dieses Modell lässt sich nicht laden',
	context_length_exceeded: 'Das ist länger, als das Modell lesen kann',
	bad_import: 'Diese Datei kann nicht übernommen werden',
	unavailable: 'Das geht im Augenblick nicht',
	engine_down: 'Im Augenblick kann kein Modell antworten',
	store_down: 'Die Datenbank kann gerade nicht schreiben'
};

export const problems: Words['problems'] = {
	unreachable: 'Der Server ist nicht erreichbar. Prüfe deine Verbindung.',
	byCode: {
		unauthenticated: 'Der Name oder das Passwort stimmt nicht, oder du bist nicht mehr angemeldet.',
		not_found: 'Das gibt es nicht, oder es gehört dir nicht.',
		worker_lost: 'Das Modell ist beim Antworten ausgefallen. Was gesagt war, ist erhalten.',
		internal_error: 'Auf unserer Seite ist etwas schiefgegangen. Es wurde festgehalten.'
	},
	said: ({ message, code }) => `${kinds[code ?? ''] ?? 'Das ging nicht'}: ${message}`
};
