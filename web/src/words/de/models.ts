import { createNumberFormats } from '$/words/numbers';
import type { Words } from '$/words/words';

const { whole, oneDigit, size } = createNumberFormats('de');

const strengths: Words['models']['strengths'] = {
	code: 'Programmieren',
	conversation: 'Gespräche',
	short_answers: 'kurze Antworten',
	tools: 'Werkzeuge',
	writing: 'Texte'
};

export const models: Words['models'] = {
	title: 'Modelle',
	choose: (title) => `Modell: ${title}`,
	none: 'Kein Modell',
	size,
	speed: (numPerSecond) => `${oneDigit(numPerSecond)} Token/s`,
	speedUnknown: 'Tempo noch nicht gemessen',
	window: (numTokens) => `${whole(numTokens)} Token Kontext`,
	here: 'dieser Rechner',
	remote: 'ein anderer Rechner',
	strengths,
	goodAt: (what) =>
		`Gut für ${new Intl.ListFormat('de').format(what.map((one) => strengths[one]))}`,
	more: 'Weitere Modelle',
	fetch: 'Holen',
	fetchOne: (title, numBytes) => `${title} holen, ${size(numBytes)}`,
	askAnAdministrator: 'Holen kann sie, wer diesen Server verwaltet.',
	manage: 'Modelle verwalten',
	fetching: (title) => `${title} wird geholt`,
	progress: (numDone, num) => `${size(numDone)} von ${size(num)}`,
	notFetched: (title, why) => `${title} konnte nicht geholt werden. ${why}`,
	hide: (title) => `Download von ${title} ausblenden`,
	offline:
		'Du bist offline. Was du schreibst, bleibt erhalten und geht hinaus, sobald du zurück bist.',
	unreachable: 'Der Server ist nicht erreichbar. Neuer Versuch läuft von selbst …',
	starting: 'Das Modell wird geladen. Nachrichten warten darauf.',
	restarting: 'Das Modell wird nach einem Problem neu geladen. Nachrichten warten darauf.',
	down: 'Im Moment kann kein Modell antworten.',
	disk_full:
		'Die Festplatte des Servers ist voll, darum lässt sich gerade nichts speichern. Antworten warten. Sag dem Betreiber dieses Servers Bescheid.',
	database_damaged:
		'Die Datenbank des Servers ist beschädigt. Sag dem Betreiber dieses Servers Bescheid.',
	store_down: 'Der Server kann gerade nichts speichern. Antworten warten.'
};
