import { createNumberFormats } from '$/words/numbers';
import type { Words } from '$/words/words';

const { when } = createNumberFormats('de');

/** The kind of failure by error code. The English message of the server follows it. */
const kinds: Record<string, string> = {
	not_allowed: 'Das ist hier nicht erlaubt',
	conflict: 'Das verträgt sich nicht mit dem, was schon da ist',
	too_large: 'Das ist zu groß',
	rate_limit_exceeded: 'Das waren zu viele Anfragen',
	quota_exceeded: 'Für heute ist nichts mehr übrig',
	proof_of_work_required: 'Der Server hat die Rechenarbeit nicht angenommen',
	idempotency_key_reused: 'Unter diesem Schlüssel wurde schon etwas anderes gesendet',
	token_expired: 'Das gilt nicht mehr',
	token_invalid: 'Das gilt hier nicht',
	model_not_found: 'Dieses Modell gibt es hier nicht',
	model_broken: 'Dieses Modell lässt sich nicht laden',
	context_length_exceeded: 'Das ist länger, als das Modell lesen kann',
	bad_import: 'Diese Datei kann nicht übernommen werden',
	unavailable: 'Das geht im Augenblick nicht',
	server_overloaded: 'Der Server ist ausgelastet',
	engine_down: 'Im Augenblick kann kein Modell antworten',
	store_down: 'Die Datenbank kann gerade nicht schreiben',
	database_damaged: 'Die Datenbank ist beschädigt'
};

export const problems: Words['problems'] = {
	unreachable: 'Der Server ist nicht erreichbar. Prüfe deine Verbindung.',
	byCode: {
		disk_full:
			'Die Festplatte des Servers ist voll, darum lässt sich gerade nichts speichern. Deine Nachricht bleibt hier und wird gesendet, sobald wieder Platz ist. Sag dem Betreiber dieses Servers Bescheid.',
		storage_limit_reached:
			'Dein Speicherplatz ist voll. Lösche Gespräche, die du nicht mehr brauchst; zwei Minuten später kannst du weiterschreiben.',
		no_worker:
			'Dieser Server verlangt etwas Rechenarbeit, bevor er eine Nachricht annimmt, und dieser Browser kann sie nicht leisten: Er lässt hier keine Web Worker zu. Erlaube sie, oder nimm einen anderen Browser.',
		unauthenticated: 'Der Name oder das Passwort stimmt nicht, oder du bist nicht mehr angemeldet.',
		password_weak:
			'Dieses Passwort ist leicht zu erraten. Mach es länger, zum Beispiel mit ein paar Wörtern, die nichts miteinander zu tun haben.',
		name_mixed:
			'Dieser Name mischt Buchstaben verschiedener Schriften, die gleich aussehen können. Schreibe ihn in einer Schrift.',
		not_found: 'Das gibt es nicht, oder es gehört dir nicht.',
		worker_lost: 'Das Modell ist beim Antworten ausgefallen. Was gesagt war, ist erhalten.',
		internal_error: 'Auf unserer Seite ist etwas schiefgegangen. Es wurde festgehalten.'
	},
	later: (at) => `Du kannst es ${when(at, 'um')} wieder versuchen.`,
	reference: (requestId) => `Wenn du es meldest, nenne diese ID: ${requestId}`,
	said: ({ message, code }) => `${kinds[code ?? ''] ?? 'Das ging nicht'}: ${message}`
};
