import type { Words } from '$/words/words';

export const problems: Words['problems'] = {
	unreachable: 'Der Server ist nicht erreichbar. Prüfe deine Verbindung.',
	unexpected: (status) => `Der Server antwortete mit ${status}.`,
	byCode: {
		unauthenticated: 'Der Name oder das Passwort stimmt nicht, oder du bist nicht mehr angemeldet.',
		not_allowed: 'Das darfst du hier nicht.',
		not_found: 'Das gibt es nicht, oder es gehört dir nicht.',
		conflict: 'Das ist schon geschehen, oder jemand war schneller. Lade die Seite neu.',
		too_large: 'Das ist zu groß. Kürze es und versuche es noch einmal.',
		rate_limit_exceeded: 'Das waren zu viele Versuche. Warte einen Augenblick.',
		model_not_found: 'Dieses Modell gibt es hier nicht. Wähle ein anderes.',
		context_length_exceeded: 'Das ist länger, als das Modell lesen kann. Kürze es.',
		unavailable: 'Das geht im Augenblick nicht. Versuche es gleich noch einmal.',
		engine_down: 'Im Augenblick kann kein Modell antworten. Versuche es gleich noch einmal.',
		worker_lost: 'Das Modell ist beim Antworten ausgefallen. Was gesagt war, ist erhalten.',
		store_down: 'Die Datenbank kann gerade nicht schreiben. Versuche es gleich noch einmal.',
		model_broken: 'Die Gewichte des Modells fehlen oder sind beschädigt.',
		bad_import: 'Diese Datei kann nicht übernommen werden.',
		internal_error: 'Auf unserer Seite ist etwas schiefgegangen. Es wurde festgehalten.'
	}
};
